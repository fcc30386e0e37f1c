// Queues of the JDK behind the port "queue": JSON lines on stdin and stdout, as
// docs/adapter-protocol.md describes them. No packages; `java JdkQueue.java NAME` runs it.
//
// A put or take that waits is a thread. When all has come to rest is known in two ways: a thread
// that was just started has ended, or its state says that it is parked; and one for which there is
// room, or an item, is waited for until it has ended, for as long as PATIENCE.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class JdkQueue {
    static final long PATIENCE_NANOS = 2_000_000_000L;
    static final String BUSY = "\"error\":\"one-wait-at-a-time\",\"definite\":true";

    /** What an adapter asks of a queue. A null of poll: there is nothing. */
    interface Queue {
        boolean offer(String item);
        String poll();
        void put(String item) throws InterruptedException;
        String take() throws InterruptedException;
        int size();
        boolean hasRoom();
        default boolean offersWaitForPuts() { return false; }
    }

    static class Blocking implements Queue {
        final BlockingQueue<String> queue;
        Blocking(BlockingQueue<String> queue) { this.queue = queue; }
        public boolean offer(String item) { return queue.offer(item); }
        public String poll() { return queue.poll(); }
        public void put(String item) throws InterruptedException { queue.put(item); }
        public String take() throws InterruptedException { return queue.take(); }
        public int size() { return queue.size(); }
        public boolean hasRoom() { return queue.remainingCapacity() > 0; }
    }

    /**
     * A publisher with one subscriber, which asks for one item when it is polled. A submit that
     * waits holds the publisher's lock, so that all its other methods wait as well: what is inside
     * is counted here, and an offer, or another submit, is declined meanwhile.
     */
    static class Published implements Queue {
        final ArrayDeque<String> arrived = new ArrayDeque<>();
        final AtomicInteger inside = new AtomicInteger();
        final int places;
        final SubmissionPublisher<String> publisher;
        Flow.Subscription subscription;

        Published(int capacity) {
            publisher = new SubmissionPublisher<>(Runnable::run, capacity);
            places = publisher.getMaxBufferCapacity();
            publisher.subscribe(new Flow.Subscriber<>() {
                public void onSubscribe(Flow.Subscription given) { subscription = given; }
                public void onNext(String item) { synchronized (arrived) { arrived.add(item); } }
                public void onError(Throwable error) { }
                public void onComplete() { }
            });
        }
        public boolean offer(String item) {
            boolean accepted = publisher.offer(item, null) >= 0;
            if (accepted) inside.incrementAndGet();
            return accepted;
        }
        public String poll() {
            if (inside.get() == 0) return null;    // a request in vain would count later
            inside.decrementAndGet();
            subscription.request(1);
            synchronized (arrived) { return arrived.poll(); }
        }
        public void put(String item) {
            publisher.submit(item);
            inside.incrementAndGet();
        }
        public String take() { throw new UnsupportedOperationException(); }
        public int size() { return inside.get(); }
        public boolean hasRoom() { return inside.get() < places; }
        public boolean offersWaitForPuts() { return true; }
    }

    /** A put or take in a thread of its own. */
    static class Call {
        final String ticket;
        final boolean puts;
        final Thread thread;
        volatile Object value;
        volatile boolean ended;

        Call(String ticket, boolean puts, Callable<Object> action) {
            this.ticket = ticket;
            this.puts = puts;
            thread = new Thread(() -> {
                try {
                    value = action.call();
                } catch (Exception interrupted) {
                    value = null;
                }
                ended = true;
            });
            thread.setDaemon(true);
            thread.start();
            while (!over() && !parked()) Thread.onSpinWait();
        }
        boolean over() { return ended && thread.getState() == Thread.State.TERMINATED; }
        boolean parked() {
            Thread.State state = thread.getState();
            return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        }
    }

    final Queue queue;
    final boolean takes;
    final Map<String, Call> waits = new LinkedHashMap<>();
    final List<String> events = new ArrayList<>();
    int tickets;

    JdkQueue(Queue queue, boolean takes) {
        this.queue = queue;
        this.takes = takes;
    }

    static Queue made(String name, int capacity) {
        switch (name) {
            case "ArrayBlockingQueue": return new Blocking(new ArrayBlockingQueue<>(capacity));
            case "ArrayBlockingQueue.fair":
                return new Blocking(new ArrayBlockingQueue<>(capacity, true));
            case "LinkedBlockingQueue": return new Blocking(new LinkedBlockingQueue<>(capacity));
            case "SubmissionPublisher": return new Published(capacity);
            default: throw new IllegalArgumentException(name);
        }
    }

    /** Wait for every call that can end now, and tell of those that have ended. */
    void settle() {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (someCanEnd() && System.nanoTime() < deadline) {
            tell();
            Thread.yield();
        }
        tell();
    }

    boolean someCanEnd() {
        for (Call call : waits.values()) {
            // In this order: a thread that has just used the room is parked no more.
            if (call.puts ? queue.hasRoom() : queue.size() > 0) return true;
            if (call.over() || !call.parked()) return true;
        }
        return false;
    }

    void tell() {
        waits.values().removeIf(call -> {
            if (!call.over()) return false;
            Object told = call.puts ? "true" : orNull((String) call.value);
            events.add("{\"done\":" + quoted(call.ticket) + ",\"ok\":" + told + "}");
            return true;
        });
    }

    String begin(boolean puts, Callable<Object> action) {
        if (!waits.isEmpty() && queue.offersWaitForPuts()) return BUSY;
        Call call = new Call("t" + (tickets + 1), puts, action);
        if (call.over()) return "\"ok\":" + (puts ? "true" : orNull((String) call.value));
        tickets += 1;
        waits.put(call.ticket, call);
        return "\"waiting\":" + quoted(call.ticket);
    }

    String cancel(String ticket) throws InterruptedException {
        Call call = waits.remove(ticket);
        if (call == null) return "\"error\":\"unknown-ticket\",\"definite\":true";
        call.thread.interrupt();
        call.thread.join();
        boolean undone = call.value == null;
        if (!undone) {
            waits.put(ticket, call);
            tell();
        }
        return "\"ok\":" + undone;
    }

    String answer(String request) throws Exception {
        String item = token(request, "item");
        switch (field(request, "do")) {
            case "offer":
                if (!waits.isEmpty() && queue.offersWaitForPuts()) return BUSY;
                return "\"ok\":" + queue.offer(item);
            case "poll": return "\"ok\":" + orNull(queue.poll());
            case "put": return begin(true, () -> { queue.put(item); return true; });
            case "size": return "\"ok\":" + queue.size();
            case "settle": return "\"ok\":true";
            case "take": if (takes) return begin(false, queue::take); break;
            case "cancel": if (takes) return cancel(field(request, "ticket")); break;
            default: break;
        }
        return "\"error\":\"unknown-operation\",\"definite\":true";
    }

    void close() {
        waits.values().forEach(call -> call.thread.interrupt());
        while (queue.poll() != null) { }    // a submit cannot be interrupted, but be let in
    }

    // ---- the protocol: flat objects, but for the settings of hello --------------------------

    static final Pattern TEXT = Pattern.compile(
        "\"(\\w+)\"\\s*:\\s*(?:\"([^\"\\\\]*(?:\\\\.[^\"\\\\]*)*)\"|(-?\\d+))");

    /** A value as JSON has it: what is put in comes out as it is, a text or a number. */
    static String token(String request, String name) {
        String found = field(request, name);
        return found == null || !isText(request, name) ? found : quoted(found);
    }

    static boolean isText(String request, String name) {
        Matcher found = TEXT.matcher(request);
        while (found.find()) {
            if (found.group(1).equals(name)) return found.group(2) != null;
        }
        return false;
    }

    static String field(String request, String name) {
        Matcher found = TEXT.matcher(request);
        while (found.find()) {
            if (found.group(1).equals(name)) {
                return found.group(2) != null ? found.group(2) : found.group(3);
            }
        }
        return null;
    }

    static String quoted(String text) { return "\"" + text + "\""; }

    static String orNull(String token) { return token == null ? "null" : token; }

    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        boolean takes = !name.equals("SubmissionPublisher");
        String can = "[\"offer\",\"poll\",\"put\",\"size\""
            + (takes ? ",\"take\",\"cancel\"]" : "]");
        PrintStream out = new PrintStream(
            new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        JdkQueue adapter = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String told;
            if (field(line, "do").equals("hello")) {
                if (adapter != null) adapter.close();
                int capacity = Integer.parseInt(field(line, "capacity"));
                adapter = new JdkQueue(made(name, capacity), takes);
                told = "\"ok\":{\"name\":\"" + name + "\",\"version\":\""
                    + System.getProperty("java.version") + "\",\"policy\":\"wait\",\"can\":" + can
                    + "}";
            } else {
                told = adapter.answer(line);
                adapter.settle();
            }
            String events = "";
            if (!adapter.events.isEmpty()) {
                events = ",\"events\":[" + String.join(",", adapter.events) + "]";
                adapter.events.clear();
            }
            out.println("{\"id\":" + field(line, "id") + "," + told + events + "}");
            out.flush();
        }
    }
}
