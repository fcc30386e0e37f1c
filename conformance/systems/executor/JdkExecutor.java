// The JDK's ThreadPoolExecutor behind the port "executor": JSON lines on stdin and stdout, as
// docs/adapter-protocol.md describes them. No packages; `java JdkExecutor.java POLICY` runs it, and
// `java JdkExecutor.java fork-join` a ForkJoinPool.
//
// When all has come to rest is known, and not guessed by waiting a while: each thread has ended, or
// waits in the queue, which says so, or runs a task, which waits for the harness to end it.
//
// A cancel is `remove` and then `Future.cancel`: the latter alone, by `POLICY cancel`, leaves the
// task in the queue, and says that it has cancelled a task that runs. A task that shutdownNow hands
// back is reported as dropped. A worker dies by an Error of the hook afterExecute.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class JdkExecutor {
    static final long PATIENCE_NANOS = 10_000_000_000L;
    static final long NAP_NANOS = 20_000;

    enum End { RETURNS, RAISES, DIES }

    /** Guards what threads of the pool read or write, and is notified of changes. */
    final Object changed = new Object();
    final List<String> events = new ArrayList<>();
    final List<Thread> threads = new ArrayList<>();
    final Set<Thread> idle = new HashSet<>();
    final Map<Integer, Thread> busy = new HashMap<>();
    final Map<Integer, End> ends = new HashMap<>();
    final Map<Integer, Task> tasks = new HashMap<>();
    final Pool pool;
    final boolean callersRun;
    final boolean byCancelAlone;
    final Set<Thread> clients = new HashSet<>();
    int cancelling = -1;
    boolean closed;
    boolean terminated;

    JdkExecutor(int workers, int places, String policy, boolean byCancelAlone) {
        this.byCancelAlone = byCancelAlone;
        callersRun = policy.equals("caller-runs");
        pool = new Pool(workers, new WorkQueue(places), handler(policy));
    }

    static RejectedExecutionHandler handler(String policy) {
        switch (policy) {
            case "refuse": return new ThreadPoolExecutor.AbortPolicy();
            case "caller-runs": return new ThreadPoolExecutor.CallerRunsPolicy();
            case "drop-newest": return new ThreadPoolExecutor.DiscardPolicy();
            case "drop-oldest": return new ThreadPoolExecutor.DiscardOldestPolicy();
            default: throw new IllegalArgumentException(policy);
        }
    }

    /** The queue of the pool: the same, and it says which threads wait in it. */
    class WorkQueue extends ArrayBlockingQueue<Runnable> {
        WorkQueue(int places) { super(places); }

        @Override public boolean offer(Runnable task) {
            synchronized (changed) {
                changed.notifyAll();
                return super.offer(task);
            }
        }

        @Override public Runnable take() throws InterruptedException {
            synchronized (changed) {
                for (Runnable task = poll(); ; task = poll()) {
                    if (task != null) return task;
                    idle.add(Thread.currentThread());
                    try {
                        changed.wait();
                    } finally {
                        idle.remove(Thread.currentThread());
                    }
                }
            }
        }
    }

    class Pool extends ThreadPoolExecutor {
        Pool(int workers, WorkQueue queue, RejectedExecutionHandler handler) {
            super(workers, workers, 0, TimeUnit.SECONDS, queue, handler);
            setThreadFactory(work -> {
                Thread thread = daemon(work);
                thread.setUncaughtExceptionHandler((dead, error) -> { });
                synchronized (changed) { threads.add(thread); }
                return thread;
            });
        }

        @Override protected <T> RunnableFuture<T> newTaskFor(Callable<T> call) {
            @SuppressWarnings("unchecked")
            RunnableFuture<T> task = (RunnableFuture<T>) new Task((Body) (Object) call);
            return task;
        }

        @Override protected void afterExecute(Runnable task, Throwable error) {
            if (((Task) task).body.end == End.DIES) throw new Error("this worker dies");
        }
    }

    /** A future that reports how it ended. */
    class Task extends FutureTask<String> {
        final Body body;

        Task(Body body) {
            super(body);
            this.body = body;
            synchronized (changed) { tasks.put(body.number, this); }
        }

        @Override protected void done() {
            String told;
            try {
                told = isCancelled() ? "[\"drop\"," + body.number + "]"
                    : "[\"return\"," + body.number + "," + get() + "]";
            } catch (Exception error) {
                told = "[\"raise\"," + body.number + "]";
            }
            synchronized (changed) { if (cancelling != body.number) events.add(told); }
        }
    }

    /** What a task does: it waits for the harness to end it, and returns its item. */
    class Body implements Callable<String> {
        final int number;
        final String item;
        volatile End end;

        Body(int number, String item) {
            this.number = number;
            this.item = item;
        }

        @Override public String call() throws Exception {
            Thread me = Thread.currentThread();
            synchronized (changed) {
                String how = clients.contains(me) ? "caller" : "start";
                events.add("[\"" + how + "\"," + number + "," + item + "]");
                busy.put(number, me);
                while (!ends.containsKey(number) && !closed) {
                    try {
                        changed.wait();
                    } catch (InterruptedException ignored) {
                        // shutdownNow: this task does not heed it
                    }
                }
                end = ends.get(number);
            }
            if (end != End.RETURNS) throw new Exception("this task fails");
            return item;
        }
    }

    /**
     * A ForkJoinPool that takes tasks in their order. What its workers wait for cannot be seen: a
     * request is answered when as many tasks run as there are workers, or all that are not over;
     * else with what there is after a second.
     */
    static class ForkJoin extends JdkExecutor {
        static final long ENOUGH_NANOS = 1_000_000_000L;

        final int workers;
        final ForkJoinPool forks;
        final Map<Integer, ForkJoinTask<String>> open = new TreeMap<>();

        ForkJoin(int workers) {
            super(workers, 1, "refuse", true);
            this.workers = workers;
            forks = new ForkJoinPool(
                workers, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
        }

        @Override String submit(int number, String item) {
            try {
                open.put(number, forks.submit(new Body(number, item)));
            } catch (RejectedExecutionException refused) {
                synchronized (changed) { events.add("[\"refuse\"," + number + "]"); }
            }
            return does();
        }

        @Override String cancel(int number) {
            ForkJoinTask<String> task = open.get(number);
            boolean undone = task != null && task.cancel(false);
            if (undone) open.remove(number);
            return "\"ok\":{\"undone\":" + undone + ",\"does\":" + settled() + "}";
        }

        @Override String shutdown() {
            forks.shutdown();
            return does();
        }

        @Override String stop() {
            forks.shutdownNow();
            return does();
        }

        @Override String settled() {
            long deadline = System.nanoTime() + ENOUGH_NANOS;
            while (!atRest() && System.nanoTime() < deadline) LockSupport.parkNanos(NAP_NANOS);
            synchronized (changed) {
                noteEnds();
                if (!terminated && forks.isTerminated()) {
                    terminated = true;
                    events.add("[\"terminated\"]");
                }
                String told = "[" + String.join(",", events) + "]";
                events.clear();
                return told;
            }
        }

        @Override boolean atRest() {
            synchronized (changed) {
                noteEnds();
                // A future that was cancelled is over, and its task may run on.
                long over = busy.keySet().stream().filter(each -> !open.containsKey(each)).count();
                if (busy.size() != Math.min(workers, open.size() + over)) return false;
                return !forks.isShutdown() || !open.isEmpty() || over > 0 || forks.isTerminated();
            }
        }

        void noteEnds() {
            open.entrySet().removeIf(each -> {
                ForkJoinTask<String> task = each.getValue();
                if (!task.isDone()) return false;
                int number = each.getKey();
                events.add(task.isCancelled() ? "[\"drop\"," + number + "]"
                    : task.isCompletedNormally()
                    ? "[\"return\"," + number + "," + task.getRawResult() + "]"
                    : "[\"raise\"," + number + "]");
                return true;
            });
        }

        @Override void close() {
            super.close();
            forks.shutdownNow();
        }
    }

    static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    // ---- the port ---------------------------------------------------------------------------

    String submit(int number, String item) {
        Runnable call = () -> {
            try {
                pool.submit(new Body(number, item));
            } catch (RejectedExecutionException refused) {
                synchronized (changed) { events.add("[\"refuse\"," + number + "]"); }
            }
        };
        if (!callersRun) {
            call.run();
            return does();
        }
        Thread client = daemon(call);
        synchronized (changed) {
            clients.add(client);
            threads.add(client);
        }
        client.start();
        return does();
    }

    String ends(int number, End end) {
        synchronized (changed) {
            if (busy.remove(number) == null) {
                return "\"error\":\"does-not-run\",\"definite\":true";
            }
            ends.put(number, end);
            changed.notifyAll();
        }
        return does();
    }

    String cancel(int number) {
        Task task;
        synchronized (changed) {
            task = tasks.get(number);
            cancelling = number;
        }
        boolean undone = (byCancelAlone || pool.remove(task)) && task.cancel(false);
        synchronized (changed) { cancelling = -1; }
        return "\"ok\":{\"undone\":" + undone + ",\"does\":" + settled() + "}";
    }

    String shutdown() {
        pool.shutdown();
        return does();
    }

    String stop() {
        for (Runnable task : pool.shutdownNow()) {
            if (((Task) task).isDone()) continue;   // cancelled before
            synchronized (changed) { events.add("[\"drop\"," + ((Task) task).body.number + "]"); }
        }
        return does();
    }

    String does() { return "\"ok\":" + settled(); }

    /** The events until all threads are idle, busy or gone. */
    String settled() {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!atRest()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("its threads neither wait nor run a task");
            }
            LockSupport.parkNanos(NAP_NANOS);
        }
        synchronized (changed) {
            if (!terminated && pool.isTerminated()) {
                terminated = true;
                events.add("[\"terminated\"]");
            }
            String told = "[" + String.join(",", events) + "]";
            events.clear();
            return told;
        }
    }

    boolean atRest() {
        synchronized (changed) {
            threads.removeIf(thread -> thread.getState() == Thread.State.TERMINATED);
            clients.retainAll(threads);
            for (Thread thread : threads) {
                if (!settles(thread)) return false;
            }
            return true;
        }
    }

    boolean settles(Thread thread) {
        boolean waits = idle.contains(thread) && pool.getQueue().isEmpty();
        // One that shutdown has interrupted is about to leave its wait.
        return busy.containsValue(thread) || (waits && !thread.isInterrupted());
    }

    void close() {
        synchronized (changed) {
            closed = true;
            changed.notifyAll();
        }
        pool.shutdownNow();
    }

    String answer(String request) {
        String task = field(request, "task");
        int number = task == null ? -1 : Integer.parseInt(task);
        switch (field(request, "do")) {
            case "submit": return submit(number, token(request, "item"));
            case "finish": return ends(number, End.RETURNS);
            case "fail": return ends(number, End.RAISES);
            case "die": return ends(number, End.DIES);
            case "cancel": return cancel(number);
            case "shutdown": return shutdown();
            case "stop": return stop();
            default: return "\"error\":\"unknown-operation\",\"definite\":true";
        }
    }

    // ---- the protocol: flat objects, but for the settings of hello --------------------------

    static final Pattern TEXT = Pattern.compile(
        "\"(\\w+)\"\\s*:\\s*(?:\"([^\"\\\\]*(?:\\\\.[^\"\\\\]*)*)\"|(-?\\d+))");

    static Matcher found(String request, String name) {
        Matcher found = TEXT.matcher(request);
        while (found.find()) {
            if (found.group(1).equals(name)) return found;
        }
        return null;
    }

    static String field(String request, String name) {
        Matcher found = found(request, name);
        if (found == null) return null;
        return found.group(2) != null ? found.group(2) : found.group(3);
    }

    /** A value as JSON has it: an item comes out as it is, a text or a number. */
    static String token(String request, String name) {
        Matcher found = found(request, name);
        return found.group(2) != null ? "\"" + found.group(2) + "\"" : found.group(3);
    }

    static final String CAN =
        "\"submit\",\"finish\",\"fail\",\"cancel\",\"shutdown\",\"stop\"";

    /** What the greeting says of the pool besides its version. */
    static String greeting(String policy) {
        if (policy.equals("fork-join")) {
            return "\"name\":\"ForkJoinPool\",\"policy\":\"unbounded\","
                + "\"no_occasion\":[\"EXEC-4\"],\"can\":[" + CAN + "]";
        }
        return "\"name\":\"ThreadPoolExecutor, " + policy + "\",\"policy\":\"" + policy
            + "\",\"can\":[\"die\"," + CAN + "]";
    }

    public static void main(String[] arguments) throws Exception {
        String policy = arguments[0];
        boolean byCancelAlone = arguments.length > 1;
        PrintStream out = new PrintStream(
            new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        JdkExecutor adapter = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String told;
            if (field(line, "do").equals("hello")) {
                if (adapter != null) adapter.close();
                int workers = Integer.parseInt(field(line, "workers"));
                int places = Integer.parseInt(field(line, "capacity"));
                adapter = policy.equals("fork-join") ? new ForkJoin(workers)
                    : new JdkExecutor(workers, places, policy, byCancelAlone);
                told = "\"ok\":{\"version\":\"" + System.getProperty("java.version") + "\","
                    + greeting(policy) + "}";
            } else {
                told = adapter.answer(line);
            }
            out.println("{\"id\":" + field(line, "id") + "," + told + "}");
            out.flush();
        }
    }
}
