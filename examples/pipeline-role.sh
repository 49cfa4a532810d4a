#!/usr/bin/env bash
# Creates the role with which a pipeline in GitHub Actions deploys, and prints its ARN:
#   examples/pipeline-role.sh example/partner-webhooks production
# Only jobs of this repository and this environment of GitHub can assume it. It may assume the roles of `cdk bootstrap`
# in AWS_REGION, and nothing else. Needs the AWS CLI with an administrator's credentials, and the GitHub CLI.
set -euo pipefail
REPOSITORY=${1:?a repository, such as example/partner-webhooks}
ENVIRONMENT=${2:?an environment of it, such as production}

# A repository from before 15 July 2026 has no ids in its subject: set SUBJECT=repo:$REPOSITORY:environment:$ENVIRONMENT.
# Source: GitHub Docs, "OpenID Connect reference", "Immutable subject claims".
SUBJECT=${SUBJECT:-repo:$(gh api "repos/$REPOSITORY" --jq '"\(.owner.login)@\(.owner.id)/\(.name)@\(.id)"'):environment:$ENVIRONMENT}

ACCOUNT=$(aws sts get-caller-identity --query Account --output text)
ISSUER=token.actions.githubusercontent.com
if ! aws iam list-open-id-connect-providers --output text | grep "$ISSUER" > /dev/null; then
  aws iam create-open-id-connect-provider --url "https://$ISSUER" --client-id-list sts.amazonaws.com
fi
aws iam create-role --role-name partner-webhooks-pipeline --query Role.Arn --output text --assume-role-policy-document '{
  "Version": "2012-10-17",
  "Statement": [{
    "Effect": "Allow",
    "Action": "sts:AssumeRoleWithWebIdentity",
    "Principal": { "Federated": "arn:aws:iam::'"$ACCOUNT:oidc-provider/$ISSUER"'" },
    "Condition": { "StringEquals": {
      "'"$ISSUER"':aud": "sts.amazonaws.com",
      "'"$ISSUER"':sub": "'"$SUBJECT"'" } } }] }'
ROLES="arn:aws:iam::$ACCOUNT:role/cdk-hnb659fds"
aws iam put-role-policy --role-name partner-webhooks-pipeline --policy-name assume-cdk-roles --policy-document '{
  "Version": "2012-10-17",
  "Statement": [{
    "Effect": "Allow",
    "Action": "sts:AssumeRole",
    "Resource": [
      "'"$ROLES-deploy-role-$ACCOUNT-$AWS_REGION"'",
      "'"$ROLES-file-publishing-role-$ACCOUNT-$AWS_REGION"'",
      "'"$ROLES-lookup-role-$ACCOUNT-$AWS_REGION"'"] }] }'
