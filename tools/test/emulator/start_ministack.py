"""Starts MiniStack with three patches. Accepts the arguments of `hypercorn`, which serves it.

1. In CloudFormation, `Ref` of an AWS::SecretsManager::Secret is its ARN. In MiniStack 1.5.33 it is its name. A role with
   permission to read `Ref` could then read nothing, and with IAM enforced the receiver would never start.
2. A delivery stream compresses as configured. All of ours use gzip. In MiniStack 1.5.33 none compresses.
3. If the process of a function fails while it starts, it is started once more. AWS does the same (Lambda developer guide,
   "Failures during the Init phase"). In MiniStack 1.5.33 the invocation fails.
"""

import gzip
import sys

from hypercorn.__main__ import main
from ministack.core import lambda_runtime
from ministack.services import firehose
from ministack.services.cloudformation.provisioners import _RESOURCE_HANDLERS

handler = _RESOURCE_HANDLERS["AWS::SecretsManager::Secret"]
create, update, delete = handler["create"], handler["update"], handler["delete"]


def name_of(arn):
    """The name in an ARN. The ARN ends with the name, a hyphen and six characters."""
    return arn.rsplit(":", 1)[-1][:-7]


def by_arn(result):
    physical_id, attributes = result
    if physical_id == attributes["Arn"]:
        sys.exit("MiniStack gives the ARN of a secret by itself now: remove tools/test/emulator/start_ministack.py")
    return attributes["Arn"], attributes


handler["create"] = lambda *args: by_arn(create(*args))
handler["update"] = lambda arn, *args, **named: by_arn(update(name_of(arn), *args, **named))
handler["delete"] = lambda arn, *args: delete(name_of(arn), *args)

put_object = firehose._put_s3_object
firehose._put_s3_object = lambda bucket, key, body: put_object(bucket, key, gzip.compress(body))

spawn = lambda_runtime.Worker._spawn


def spawn_again_if_it_fails(worker):
    try:
        spawn(worker)
    except RuntimeError as error:
        lambda_runtime.logger.warning("%s is started again: %s", worker.func_name, error)
        spawn(worker)


lambda_runtime.Worker._spawn = spawn_again_if_it_fails

sys.exit(main())
