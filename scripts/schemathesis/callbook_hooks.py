import schemathesis

@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")

@schemathesis.hook
def filter_case(context, case):
    return case.media_type != "application/x-ndjson" or isinstance(case.body, (str, bytes))

# A cursor is what the page before says, and stands in the place of an offset: no schema can say either.
@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta and case.meta.generation.mode.is_positive:
        case.query.pop("cursor", None)
