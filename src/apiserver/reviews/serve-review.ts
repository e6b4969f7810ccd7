import { compact } from '../../core/compact.ts'
import type { ApiError } from '../../core/errors.ts'
import type { Caller } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import { REVIEW_KINDS } from '../../kinds/builtin/reviews.ts'
import type { SelfSubjectRulesReview, SubjectAccessReview, TokenReview } from '../../kinds/builtin/reviews.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { validateObject } from '../../kinds/validation/validate-object.ts'
import { invalid, invalidObject } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import type { VerbResponse } from '../http/respond.ts'
import type { RequestContext } from '../server/context.ts'
import { decodeObject } from '../http/decode-body.ts'
import { decodeAndDefault } from '../verbs/receive-object.ts'
import { notAcceptable } from '../http/negotiate.ts'
import { writeOptions } from '../http/request-options.ts'
import type { RbacAuthorizer } from '../rbac/rbac-authorizer.ts'
import { MASTERS } from '../rbac/rbac-authorizer.ts'
import { badRequest, methodNotAllowed } from '../http/api-errors.ts'
import type { AuthorizationAttributes } from '../http/api-errors.ts'
import type { UserTokens } from '../tokens/authenticate.ts'
import type { ServiceAccountTokens } from '../tokens/service-account-tokens.ts'

/** Access and token reviews. Reviews are answered and never stored. */

/** Who answers. */
export interface Reviewers {
  readonly authorizer: RbacAuthorizer
  readonly tokens: ServiceAccountTokens | undefined
  readonly userTokens: UserTokens | undefined
}

/** Whether a kind is a question. */
export function isReview(kind: Pick<Kind, 'group' | 'kind'>): boolean {
  return REVIEW_KINDS.some((review) => review.group === kind.group && review.kind === kind.kind)
}

/** Answers a question. */
export async function serveReview(context: RequestContext, reviewers: Reviewers): Promise<VerbResponse> {
  const { kind, http, query, request } = context
  if (request.verb !== 'create') throw methodNotAllowed()
  // An answer to a question is no object: it has no metadata to show, and no columns.
  if (context.accept.as !== undefined) throw notAcceptable()
  const options = writeOptions('CreateOptions', query, http)
  const { value, repeated } = decodeObject(http)
  const { object, warnings } = decodeAndDefault(kind, value, { repeated, validation: options.fieldValidation })
  const errors = validateObject(kind, { ...object, metadata: nameless(kind) })
  if (errors.length > 0) throw invalidObject(kind, '', errors)
  if (kind.scope === 'Namespaced') object.metadata.namespace = request.namespace ?? ''
  const status = await answerOf(object, context, reviewers)
  const { metadata } = object
  const isDated = kind.kind === 'SelfSubjectReview'
  const dated = isDated ? { ...metadata, creationTimestamp: formatTime(context.parts.clock.now()) } : metadata
  return { status: 201, object: { ...object, metadata: dated, status }, warnings }
}

// Questions have no names; the rules of metadata want one.
function nameless(kind: Kind): UnknownObject['metadata'] {
  return compact({ name: 'question', namespace: kind.scope === 'Namespaced' ? 'question' : undefined })
}

async function answerOf(object: UnknownObject, context: RequestContext, reviewers: Reviewers): Promise<object> {
  const { caller, kind } = context
  const { authorizer } = reviewers
  const spec = isObject(object['spec']) ? object['spec'] : {}
  switch (kind.kind) {
    case 'SelfSubjectAccessReview':
      return verdictOf(authorizer, attemptOf(spec, caller))
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview': {
      const attempt = attemptOf(spec, subjectOf(spec))
      if (kind.kind === 'LocalSubjectAccessReview') checkNamespace(attempt, object.metadata.namespace ?? '')
      return verdictOf(authorizer, attempt)
    }
    case 'SelfSubjectRulesReview':
      return rulesOf(authorizer, caller, spec)
    case 'TokenReview':
      return tokenVerdict(reviewers, spec)
    default:
      return { userInfo: userInfoOf(caller) }
  }
}

type AccessSpec = NonNullable<SubjectAccessReview['spec']>

function attemptOf(spec: AccessSpec, caller: Caller): AuthorizationAttributes {
  const { resourceAttributes: on, nonResourceAttributes: path } = spec
  if (on && path) {
    const shown = { Path: path.path ?? '', Verb: path.verb ?? '' }
    throw refused(
      invalid('spec.nonResourceAttributes', shown, 'cannot be specified in combination with resourceAttributes'),
    )
  }
  if (path) return { caller, verb: path.verb ?? '', path: path.path ?? '' }
  if (!on) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
    throw refused(invalid('spec.resourceAttributes', null, why))
  }
  const { group = '', resource = '', subresource, namespace, name, verb = '' } = on
  return {
    caller,
    verb,
    path: '',
    resource: compact({
      group,
      plural: resource,
      subresource: subresource || undefined,
      namespace: namespace || undefined,
      name: name || undefined,
    }),
  }
}

function subjectOf({ user = '', groups = [], uid, extra }: AccessSpec): Caller {
  if (user === '' && groups.length === 0) {
    throw refused(invalid('spec.user', '', 'at least one of user or group must be specified'))
  }
  return compact({ user, groups, uid: uid || undefined, extra })
}

function checkNamespace({ resource }: AuthorizationAttributes, namespace: string): void {
  if (!resource) {
    throw refused(invalid('spec.nonResourceAttributes', {}, 'disallowed on this kind of request'))
  }
  if (resource.namespace === namespace) return
  throw refused(invalid('spec.resourceAttributes.namespace', resource.namespace ?? '', 'must match metadata.namespace'))
}

// The real server leaves the kind out of these; so do we.
function refused(error: FieldError): ApiError {
  return invalidObject({ group: 'authorization.k8s.io', kind: '' }, '', [error])
}

async function verdictOf(authorizer: RbacAuthorizer, attempt: AuthorizationAttributes): Promise<object> {
  const { allowed, reason } = await authorizer.authorize(attempt)
  return compact({ allowed, reason: reason || undefined })
}

function rulesOf(
  authorizer: RbacAuthorizer,
  caller: Caller,
  { namespace }: NonNullable<SelfSubjectRulesReview['spec']>,
): object {
  if (!namespace) throw badRequest('no namespace on request')
  const { rules, problems } = authorizer.rulesFor(caller, namespace)
  const all: readonly PolicyRule[] = caller.groups.includes(MASTERS)
    ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['*'], nonResourceURLs: ['*'] }, ...rules]
    : rules
  return compact({
    resourceRules: distinct(all.filter(({ resources }) => resources?.length)),
    nonResourceRules: distinct(all.filter(({ nonResourceURLs }) => nonResourceURLs?.length)),
    incomplete: false,
    evaluationError: problems.length > 0 ? problems.join(', ') : undefined,
  })
}

function distinct(rules: readonly PolicyRule[]): PolicyRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()]
}

async function tokenVerdict(
  { tokens, userTokens }: Pick<Reviewers, 'tokens' | 'userTokens'>,
  { token, audiences }: NonNullable<TokenReview['spec']>,
): Promise<object> {
  if (!token) throw badRequest('token is required for TokenReview in authentication')
  const proven = await tokens?.prove(token, audiences?.length ? audiences : undefined)
  if (proven) return { authenticated: true, user: userInfoOf(proven.caller), audiences: proven.audiences }
  // Tokens of users are made for this API alone, so they answer only questions about it.
  const isForApi = !audiences?.length || (tokens !== undefined && audiences.includes(tokens.audience))
  const user = isForApi ? await userTokens?.prove(token) : undefined
  if (!user) return { user: {}, error: 'invalid bearer token' }
  return { authenticated: true, user: userInfoOf(user.caller), audiences: tokens ? [tokens.audience] : [] }
}

function userInfoOf({ user, uid, groups, extra }: Caller): object {
  return compact({ username: user, uid: uid || undefined, groups, extra })
}
