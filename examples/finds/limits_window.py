"""limits: a fixed window gives nearly twice its number around the window's end."""
import time

from limits import RateLimitItemPerSecond, storage, strategies

now = 1000.0
time.time = lambda: now                  # which the library reads: nothing here takes real time
limiter = strategies.FixedWindowRateLimiter(storage.MemoryStorage())
limit = RateLimitItemPerSecond(10)
limiter.hit(limit)                       # the window begins
passed = 0
for now in (1000.9, 1001.1):  # noqa: B007 - time.time reads it; around its end
    while limiter.hit(limit):
        passed += 1
print(f"{passed} hits in 0.2 s of 10 a second")    # 19 hits in 0.2 s of 10 a second
