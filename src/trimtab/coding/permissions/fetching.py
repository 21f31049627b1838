"""The verdict on getting a page: an address is sent out, and its server learns what it says.

    denied by a rule? ─▶ held for a person by a rule of ask? ─▶ mode full? ─▶ allowed by a rule that names the server? ─▶ asked about

`fetch(docs.python.org)` names a server, with its port where that isn't the usual one, `fetch(*.python.org)` those below a name, `fetch` all. What is on this machine or in the
network around it, no `*` and no bare `fetch` opens: a rule has to name it. A page changes nothing, so in mode `plan` a rule that allows holds too.
"""

from fnmatch import fnmatchcase

from trimtab.coding.permissions.places import allowed_with, asked_by, denied_by
from trimtab.coding.permissions.policy import Policy
from trimtab.coding.permissions.rules import Rule
from trimtab.coding.permissions.verdicts import Allow, Ask, By, Decision
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.web.address import Address, address_of


def fetch_verdict(url: str, policy: Policy) -> Decision:
    """Return whether the page at `url` may be asked for."""
    if closed := next((rule for rule in policy.rules.deny if rule.is_about("fetch") and rule.argument is None), None):
        return denied_by(closed, "fetch")
    try:
        address = address_of(url.strip())
    except ToolFailure:
        return Allow(By("fact", "it is no address: the tool says better what is wrong with it"))
    wanted = f"fetch({address.authority})"
    if denial := next((rule for rule in policy.rules.deny if _fits(rule, address)), None):
        return denied_by(denial, f"fetch {address.url}")
    answered = any(rule.answer and rule.text == wanted for rule in policy.rules.allow)
    asking = next((rule for rule in policy.rules.ask if _fits(rule, address)), None)
    if asking and not answered:
        return asked_by(asking, wanted)
    if policy.mode == "full":
        return Allow(policy.by_mode)
    if rule := next((rule for rule in policy.rules.allow if _fits(rule, address) and _opens(rule, address)), None):
        return Allow(rule.by)
    where = "on this machine or in the network around it" if address.is_local else "out there"
    reason = f"{address.authority} is {where}, and learns what the address says"
    return Ask(reason, allowed_with(f'permissions.allow = ["{wanted}"]'), policy.by_mode, (wanted,))


def _fits(rule: Rule, address: Address) -> bool:
    return rule.is_about("fetch") and (rule.argument is None or fnmatchcase(address.authority, rule.argument.lower()))


def _opens(rule: Rule, address: Address) -> bool:
    """Whether an allowance that fits may open the address: what is near has to be named."""
    return not address.is_local or (rule.argument or "").lower() == address.authority
