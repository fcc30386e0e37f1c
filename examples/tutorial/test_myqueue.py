"""The queue of the tutorial in pytest runs of your own: ``pytest test_myqueue.py`` here."""

from checkvalve.conformance.state_machines import state_machine
from myqueue import Adapter

TestMyQueue = state_machine("queue", Adapter).TestCase
