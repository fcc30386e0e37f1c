"""A shop with a pool of threads, built in Python: `python examples/builder/shop.py`.

Orders are priced and packed by threads of one pool. A thread that has priced an order keeps it
until there is a free slot on the shelf. How many threads are enough?
"""

from checkvalve.spec.design.builder import Design


def shop(threads: int, room: int) -> Design:
    """The shop's design; `print(shop(2, 3).yaml())` is a file for `checkvalve check`."""
    design = Design("shop", about="Orders are priced, then packed, by threads of one pool.")
    staff = design.pool("staff", threads=threads)
    orders = design.source("orders")
    price = design.map("price", pool=staff)
    pack = design.map("pack", pool=staff)
    door = design.sink("door")
    design.link(orders, price, capacity=10, flow="credit", batch=5)
    design.link(price, pack, name="shelf", capacity=room)
    design.link(pack, door, capacity=1)
    return design


if __name__ == "__main__":
    for threads in (1, 2, 3):
        for room in (1, 100):
            found = shop(threads, room).check().finding("deadlock-free")
            print(f"{threads} of staff, room for {room}: deadlock {found.outcome.value}")
