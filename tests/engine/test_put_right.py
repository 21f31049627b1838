"""What is put right in a request on its way out is told in a sentence that says what happened and that nothing is lost."""

import pytest

from support.engine_session import model
from trimtab.context.budget import budget_for
from trimtab.context.cycle.faults import faultfinder
from trimtab.context.cycle.look import look
from trimtab.context.cycle.tally import MeterTally
from trimtab.context.window.view import View
from trimtab.types.messages import user
from trimtab.types.models import Api, ModelRequest


@pytest.mark.parametrize("api", ["anthropic", "openai-chat"])
def test_an_empty_message_is_left_out_and_the_notice_is_a_sentence(api: Api) -> None:
    info = model(8_000, api=api)
    view = View().with_message("u0", user("")).with_message("u1", user("go on"))
    faults = faultfinder(info, has_way=lambda _slot, _text: True)
    messages, notes = faults.ready(look(view, ModelRequest(info, ()), budget_for(info), MeterTally(info)))
    assert messages == (user("go on"),)
    assert notes == (
        "put right in the request, which the provider would have refused (the session stays as it is):"
        " an empty message is left out",
    )
