// The JDK's SubmissionPublisher behind the port "reactive.publisher": JSON lines on stdin and stdout,
// as docs/adapter-protocol.md and docs/reactive-port.md describe them. No packages;
// `java JdkPublisher.java` runs it.
//
// Its executor keeps all tasks until the harness says that one is to run, so nothing happens by
// itself. What runs, or is called, gets a thread of its own and is waited for until that has ended,
// or is parked: in an onNext that is held, or for a lock. No clock is looked at.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class JdkPublisher {
    static class SourceFailed extends RuntimeException { }

    final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    final List<String> events = new ArrayList<>();
    final Map<Integer, Seat> seats = new HashMap<>();
    final AtomicInteger submitted = new AtomicInteger();
    final AtomicInteger signalled = new AtomicInteger();
    int held;
    final int elements;
    final long first;
    final boolean fails;

    JdkPublisher(int elements, long first, boolean fails) {
        this.elements = elements;
        this.first = first;
        this.fails = fails;
    }

    void event(String name, int subscriber, String more) {
        synchronized (events) {
            events.add("{\"event\":\"" + name + "\",\"subscriber\":" + subscriber + more + "}");
        }
    }

    /** A subscriber, with a publisher of its own that has all elements in its buffer. */
    class Seat implements Flow.Subscriber<Long> {
        final int number;
        final SubmissionPublisher<Long> publisher =
            new SubmissionPublisher<>(tasks::add, Math.max(8, elements));
        Flow.Subscription subscription;
        long wanted;
        long plan;
        boolean quits;
        volatile boolean holds;
        volatile CountDownLatch latch;
        volatile Thread holder;

        Seat(int number) { this.number = number; }

        void subscribe() {
            publisher.subscribe(this);
            for (long element = first; element < first + elements; element++) {
                submitted.incrementAndGet();
                publisher.submit(element);
            }
            if (fails) publisher.closeExceptionally(new SourceFailed());
            else publisher.close();
        }

        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            event("subscribed", number, "");
            if (wanted > 0) requests(wanted);
        }

        public void onNext(Long element) {
            signalled.incrementAndGet();
            event("next", number, ",\"element\":" + element);
            if (holds) {
                holds = false;
                latch = new CountDownLatch(1);
                holder = Thread.currentThread();
                try {
                    latch.await();
                } catch (InterruptedException interrupted) {
                    return;
                }
                holder = null;
            } else {
                if (quits) {
                    quits = false;
                    event("cancels", number, "");
                    made("cancels", subscription::cancel);
                }
                if (plan > 0) requests(plan);
            }
            event("returned", number, "");
        }

        public void onError(Throwable error) {
            String cause = error instanceof SourceFailed ? "failure"
                : error instanceof IllegalArgumentException ? "argument" : "other";
            event("error", number, ",\"cause\":\"" + cause + "\"");
        }

        public void onComplete() { event("complete", number, ""); }

        void requests(long count) {
            event("requests", number, ",\"n\":" + count);
            made("requests", () -> subscription.request(count));
        }

        void made(String call, Runnable action) {
            try {
                action.run();
            } catch (RuntimeException error) {
                event("raised", number, ",\"call\":\"" + call + "\"");
            }
        }

        /** A call from outside; it does not return if its thread is parked. */
        void called(String call, Runnable action) {
            if (!ran(() -> made(call, action)))
                event("waits", number, ",\"call\":\"" + call + "\"");
        }
    }

    /** Run something in a thread of its own until that ends or is parked; whether it has ended. */
    boolean ran(Runnable action) {
        Thread thread = new Thread(action);
        thread.setDaemon(true);
        thread.start();
        return rested(thread);
    }

    /** Whether the thread of an id is in an onNext that is held. */
    boolean holds(long id) {
        return seats.values().stream().anyMatch(
            seat -> seat.holder != null && seat.holder.getId() == id);
    }

    /** The id of the thread whose lock a thread waits for; -1 if it waits for none. */
    static long ownerOfLock(Thread thread) {
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
        return info == null ? -1 : info.getLockOwnerId();
    }

    /** Wait until a thread ends, or can do no more while an onNext is held; whether it has ended. */
    boolean rested(Thread thread) {
        while (true) {
            Thread.State state = thread.getState();
            if (state == Thread.State.TERMINATED) return true;
            if (state == Thread.State.WAITING || state == Thread.State.BLOCKED)
                if (holds(thread.getId()) || holds(ownerOfLock(thread))) return false;
            Thread.onSpinWait();
        }
    }

    void runOne() {
        Runnable task = tasks.poll();
        if (task != null) ran(task);
    }

    void settle() {
        while (!tasks.isEmpty()) runOne();
    }

    /** Let an onNext return, and wait for the thread that it is part of. */
    void release(Seat seat) {
        Thread holder = seat.holder;
        if (holder == null) return;
        seat.latch.countDown();
        while (seat.holder == holder) Thread.onSpinWait();
        rested(holder);
    }

    String answer(String line) {
        String operation = text(line, "do");
        int number = (int) integer(line, "subscriber");
        Seat seat = seats.get(number);
        switch (operation) {
            case "subscribe":
                Seat joining = new Seat(number);
                joining.wanted = integer(line, "n");
                seats.put(number, joining);
                joining.called("subscribe", joining::subscribe);
                break;
            case "request":
                long count = integer(line, "n");
                seat.called("request", () -> seat.subscription.request(count));
                break;
            case "request_all":
                seat.called("request", () -> seat.subscription.request(Long.MAX_VALUE));
                break;
            case "cancel": seat.called("cancel", seat.subscription::cancel); break;
            case "plan": seat.plan = integer(line, "n"); return "true";
            case "quit": seat.quits = true; return "true";
            case "hold": seat.holds = true; return "true";
            case "release": release(seat); break;
            case "subscribe_null":
                try {
                    new SubmissionPublisher<Long>(tasks::add, 8).subscribe(null);
                    return "false";
                } catch (NullPointerException expected) {
                    return "true";
                }
            case "references":
                List<String> found = new ArrayList<>();
                seats.forEach((each, one) -> {
                    if (one.publisher.isSubscribed(one)) found.add("" + each);
                });
                return "[" + String.join(",", found) + "]";
            case "run": runOne(); break;
            case "settle": settle(); break;
            default: return null;
        }
        synchronized (events) {
            tellHolds();
            String told = "[" + String.join(",", events) + "]";
            events.clear();
            return told;
        }
    }

    /** Tell what was submitted and signalled to nobody, where that is another number now. */
    void tellHolds() {
        int now = submitted.get() - signalled.get();
        if (now == held) return;
        held = now;
        events.add("{\"event\":\"holds\",\"n\":" + now + "}");
    }

    static String text(String line, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\\s*\"([^\"]*)\"").matcher(line);
        return found.find() ? found.group(1) : "";
    }

    static long integer(String line, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\\s*(-?\\d+)").matcher(line);
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        PrintStream replies = new PrintStream(System.out, true);
        JdkPublisher adapter = null;
        for (String line; (line = requests.readLine()) != null; ) {
            String reply;
            if (text(line, "do").equals("hello")) {
                adapter = new JdkPublisher((int) integer(line, "capacity"),
                                           integer(line, "first"),
                                           integer(line, "fails") == 1);
                reply = "{\"name\":\"SubmissionPublisher\",\"version\":\"" + Runtime.version()
                    + "\",\"policy\":\"queued\",\"can\":[\"subscribe\",\"request\",\"request_all\","
                    + "\"cancel\",\"plan\",\"quit\",\"hold\",\"release\",\"subscribe_null\","
                    + "\"references\",\"run\"]}";
            } else {
                reply = adapter.answer(line);
            }
            replies.println("{\"id\":" + integer(line, "id") + "," + (reply == null
                ? "\"error\":\"unknown-operation\",\"definite\":true" : "\"ok\":" + reply) + "}");
        }
    }
}
