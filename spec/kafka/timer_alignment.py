"""Why an overflow wheel never takes a live task for expired: the clocks' alignment, by proof.

Theory of operation
-------------------
``timer`` finds by search that a wheel's clock is its child's clock rounded down to its own tick
(KAFKA-W4), for some small u, n and horizons. Here it is proved for all of them. Two wheels are
enough, since each is related to the next one only; u is the lower one's tick, whatever its level.

The prover is weak at division by something unknown. So the machine counts instead of dividing:
the lower clock is x ticks of u into the tick of the upper wheel, which has had p of its own, so
that the clocks are ``(p n + x) u`` and ``p n u``. A bucket expires at some later tick, any number
of ticks on, and both clocks move, each by the code's own test and rounding:

    lower   if t >= cur  + u     cur  := t - t mod u
    upper   if t >= cur' + n u   cur' := t - t mod (n u)

The products are state (``product``, ``interval``), so that each step is linear but for what
the lemmas say. KAFKA-W4A is the alignment, and KAFKA-W4B what follows: whatever the lower wheel
cannot hold is not yet expired in the upper one, so the overflow is never refused, and a task
cannot run early because of it.

Source: kafka.md 1.5 W4; TimingWheel.add and TimingWheel.advanceClock of Kafka 3.9.
"""
