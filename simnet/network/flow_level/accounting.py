"""What every link has carried, in total and per interval of time."""

from simnet.jit import kernel
from simnet.network.bins import spread, widened
from simnet.network.flow_level.state import CLOSED


@kernel
def account(link, load, links, bins, world):
    """Book what a link has carried up to now, and its load [bytes/s] from now on."""
    now, since, carried = world[0].now, links[link].since, links[link].load
    if carried > 0.0 and now > since:
        links[link].bytes += carried * (now - since)
        links[link].busy += now - since
        if world[0].bin_width * bins.shape[1] < now:
            world[0].bin_width = widened(bins, world[0].bin_width, now)
        spread(bins[link], carried, since, now, world[0].bin_width)
    links[link].since = now
    links[link].load = load


@kernel
def account_touched(links, touched, bins, world):
    """Book the links of the last solve whose load has changed, and close them."""
    for i in range(world[0].touched):
        link = touched[i]
        load = links[link].fixed if links[link].head >= 0 else 0.0
        if load != links[link].load:
            account(link, load, links, bins, world)
        links[link].status = CLOSED
    world[0].touched = 0


@kernel
def account_all(links, bins, world):
    """Book every link up to now."""
    for link in range(len(links)):
        account(link, links[link].load, links, bins, world)
