"""limits: a fixed window gives nearly twice its number around the window's end."""
import time

from limits import RateLimitItemPerSecond, storage, strategies

limiter = strategies.FixedWindowRateLimiter(storage.MemoryStorage())
limit = RateLimitItemPerSecond(10)
limiter.hit(limit)                       # the window begins
time.sleep(0.9)
passed, begin = 0, time.time()
while time.time() - begin < 0.3:
    passed += limiter.hit(limit)
print(f"{passed} hits in 0.3 s of 10 a second")    # 19 hits in 0.3 s of 10 a second
