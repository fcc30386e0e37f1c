// Candidates by Apache Curator's recipes: LeaderLatch, LeaderSelector and InterProcessMutex.
//
// Contenders KIND ADDRESS NAME IDENTITY SECONDS FENCED: one candidate, asked by JSON lines as
// program.py says. Each recipe is used as its documentation has it. The token, which Curator does
// not hand out, is the sequence number of the node that the recipe made, counted from 1.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooKeeper;

public final class Contenders {
    private static final Pattern DO = Pattern.compile("\"do\"\\s*:\\s*\"(\\w+)\"");
    private static final int RETRY_MILLISECONDS = 50;

    interface Contender {
        void join() throws Exception;

        void resign() throws Exception;

        /** The token with which it leads, 0 where there is none; null if it does not lead. */
        Long token();
    }

    record Where(String name, String identity, boolean fenced) {
        String path() {
            return "/" + name;
        }

        /** The sequence number of a node, counted from 1. */
        Long number(String node) {
            return fenced ? Long.parseLong(node.substring(node.length() - 10)) + 1 : 0L;
        }
    }

    public static void main(String[] given) throws Exception {
        int milliseconds = (int) (1000 * Double.parseDouble(given[4]));
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                given[1], milliseconds, milliseconds, new RetryForever(RETRY_MILLISECONDS));
        client.start();
        if (!client.blockUntilConnected(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection to " + given[1]);
        }
        Where where = new Where(given[2], given[3], given[5].equals("true"));
        Contender contender = switch (given[0]) {
            case "curator.latch" -> new Latch(client, where);
            case "curator.selector" -> new Selector(client, where);
            case "curator.mutex" -> new Mutex(client, where);
            default -> throw new IllegalArgumentException(given[0]);
        };
        answerAll(client, contender, new Pulse());
        System.exit(0);
    }

    private static void answerAll(CuratorFramework client, Contender contender, Pulse pulse)
            throws Exception {
        BufferedReader requests = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Long held = null;
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            Matcher asked = DO.matcher(line);
            Object answer = true;
            switch (asked.find() ? asked.group(1) : "") {
                case "join" -> contender.join();
                case "resign" -> contender.resign();
                case "ask" -> answer = held = contender.token();
                case "look" -> answer = contender.token();
                case "write" -> answer = held;
                case "session" -> answer = session(client);
                default -> throw new IllegalArgumentException(line);
            }
            System.out.println("{\"ok\": " + answer + ", \"gap\": " + pulse.take() + "}");
            System.out.flush();
        }
    }

    /** The number and the password of the session, by which another client may resume it. */
    private static String session(CuratorFramework client) throws Exception {
        ZooKeeper known = client.getZookeeperClient().getZooKeeper();
        if (known.getSessionId() == 0) {
            return null;
        }
        StringBuilder password = new StringBuilder();
        for (byte each : known.getSessionPasswd()) {
            password.append(String.format("%02x", each));
        }
        return "[" + known.getSessionId() + ", \"" + password + "\"]";
    }

    /** A thread that does nothing but look at the clock. */
    static final class Pulse extends Thread {
        private static final long BEAT = 20;
        private long longest = 0;
        private long last = System.nanoTime();

        Pulse() {
            setDaemon(true);
            start();
        }

        /** The longest gap since this was asked last, in milliseconds; also one that ends now. */
        synchronized long take() {
            look();
            long found = longest;
            longest = 0;
            return found;
        }

        private synchronized void look() {
            long now = System.nanoTime();
            longest = Math.max(longest, (now - last) / 1_000_000 - BEAT);
            last = now;
        }

        @Override
        public void run() {
            while (true) {
                try {
                    Thread.sleep(BEAT);
                } catch (InterruptedException over) {
                    return;
                }
                look();
            }
        }
    }

    /** LeaderLatch: it looks to its connection by itself. */
    static final class Latch implements Contender {
        private final CuratorFramework client;
        private final Where where;
        private LeaderLatch latch;

        Latch(CuratorFramework client, Where where) {
            this.client = client;
            this.where = where;
        }

        public void join() throws Exception {
            latch = new LeaderLatch(client, where.path(), where.identity());
            latch.start();
            while (latch.getOurPath() == null) {
                Thread.sleep(RETRY_MILLISECONDS);
            }
        }

        public void resign() throws Exception {
            latch.close();
        }

        public Long token() {
            LeaderLatch here = latch;
            String path = here == null ? null : here.getOurPath();
            return path != null && here.hasLeadership() ? where.number(path) : null;
        }
    }

    /** LeaderSelector, with the adapter that ends takeLeadership, and autoRequeue. */
    static final class Selector extends LeaderSelectorListenerAdapter implements Contender {
        private final CuratorFramework client;
        private final Where where;
        private LeaderSelector selector;
        private volatile Long token;

        Selector(CuratorFramework client, Where where) {
            this.client = client;
            this.where = where;
        }

        public void join() throws Exception {
            selector = new LeaderSelector(client, where.path(), this);
            selector.setId(where.identity());
            selector.autoRequeue();
            selector.start();
            while (token == null && node() == null) {
                Thread.sleep(RETRY_MILLISECONDS);
            }
        }

        public void resign() {
            selector.close();
            while (token != null) {
                Thread.onSpinWait();
            }
        }

        @Override
        public void takeLeadership(CuratorFramework leading) throws Exception {
            String node = node();
            if (node == null) {
                return;
            }
            token = where.number(node);
            try {
                new CountDownLatch(1).await();    // until it is interrupted
            } finally {
                token = null;
            }
        }

        public Long token() {
            return token;
        }

        /** Its own node: the one that has its id. */
        private String node() throws Exception {
            if (client.checkExists().forPath(where.path()) == null) {
                return null;
            }
            for (String each : client.getChildren().forPath(where.path())) {
                byte[] data = client.getData().forPath(where.path() + "/" + each);
                if (new String(data, StandardCharsets.UTF_8).equals(where.identity())) {
                    return each;
                }
            }
            return null;
        }
    }

    /** InterProcessMutex, in a thread that gives it back when the connection is suspended. */
    static final class Mutex implements Contender {
        private final CuratorFramework client;
        private final Where where;
        private volatile boolean wanted;
        private volatile Long token;
        private volatile CountDownLatch over = new CountDownLatch(1);
        private Thread thread;

        Mutex(CuratorFramework client, Where where) {
            this.client = client;
            this.where = where;
            client.getConnectionStateListenable().addListener((changed, state) -> {
                if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                    token = null;
                    over.countDown();
                }
            });
        }

        public void join() throws Exception {
            wanted = true;
            thread = new Thread(this::campaign);
            thread.setDaemon(true);
            thread.start();
            while (token == null && (client.checkExists().forPath(where.path()) == null
                    || client.getChildren().forPath(where.path()).isEmpty())) {
                Thread.sleep(RETRY_MILLISECONDS);
            }
        }

        public void resign() throws Exception {
            wanted = false;
            over.countDown();
            if (token == null) {
                thread.interrupt();
            }
            thread.join();
        }

        public Long token() {
            return token;
        }

        private void campaign() {
            while (wanted) {
                over = new CountDownLatch(1);
                Numbered mutex = new Numbered(client, where.path());
                try {
                    mutex.acquire();
                    try {
                        if (client.getZookeeperClient().isConnected()) {
                            token = where.number(mutex.node());
                            over.await();
                        }
                    } finally {
                        token = null;
                        mutex.release();
                    }
                } catch (Exception lost) {
                    // The session has ended, or it no longer wants to: the loop looks which.
                }
            }
        }
    }

    /** A mutex that tells of its node. */
    static final class Numbered extends InterProcessMutex {
        Numbered(CuratorFramework client, String path) {
            super(client, path);
        }

        String node() {
            return getLockPath();
        }
    }

    private Contenders() {}
}
