/**
 * Asks the home who may do what, as every aggregated API does: RBAC there is the only place where that is decided.
 */
import type { Authorizer, Decision } from '../../apiserver/rbac/authorizer.ts'
import type { AuthorizationAttributes } from '../../apiserver/http/api-errors.ts'
import type { Client } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { ApiError, isApiError, toError } from '../../core/errors.ts'
import { SubjectAccessReview } from '../../kinds/builtin/reviews.ts'
import { apiVersionOf } from '../../kinds/meta.ts'

/** As long as Kubernetes' own delegated authorizer remembers an answer. */
const REMEMBERED_MS = 10_000
const MAX_REMEMBERED = 2_000
/** Said without asking: who may look whether a server lives. */
const HEALTH = /^\/(healthz|livez|readyz)(\/|$)/

/** The authorizer over a home. */
export function createDelegatedAuthorizer({
  client,
  clock,
}: {
  readonly client: Pick<Client, 'create'>
  readonly clock: Pick<Clock, 'monotonicMs'>
}): Authorizer {
  const remembered = new Map<string, { readonly until: number; readonly decision: Decision }>()
  return {
    async authorize(attempt) {
      if (!attempt.resource && HEALTH.test(attempt.path)) return { allowed: true }
      const spec = specOf(attempt)
      const key = JSON.stringify(spec)
      const known = remembered.get(key)
      if (known && known.until > clock.monotonicMs()) return known.decision
      const decision = await ask(client, spec)
      remembered.delete(key)
      remembered.set(key, { until: clock.monotonicMs() + REMEMBERED_MS, decision })
      for (const oldest of remembered.keys()) if (remembered.size > MAX_REMEMBERED) remembered.delete(oldest)
      return decision
    },
  }
}

async function ask(client: Pick<Client, 'create'>, spec: SubjectAccessReview['spec']): Promise<Decision> {
  const { kind } = SubjectAccessReview
  const review = { apiVersion: apiVersionOf(SubjectAccessReview), kind, metadata: { name: '' }, spec }
  try {
    const { status } = await client.create(SubjectAccessReview, review)
    const reason = status?.reason
    return compact({ allowed: status?.allowed === true && status.denied !== true, reason: reason || undefined })
  } catch (caught) {
    const why = isApiError(caught) ? caught.message : toError(caught).message
    throw new ApiError('InternalError', `the home could not say who may do this: ${why}`, {}, { cause: caught })
  }
}

function specOf({ caller, verb, resource, path }: AuthorizationAttributes): SubjectAccessReview['spec'] {
  const { user, groups, uid, extra } = caller
  return {
    user,
    groups: [...groups],
    ...compact({
      uid,
      extra: extra ? Object.fromEntries(Object.entries(extra).map(([name, values]) => [name, [...values]])) : undefined,
    }),
    ...(resource
      ? {
          resourceAttributes: compact({
            verb,
            group: resource.group,
            resource: resource.plural,
            subresource: resource.subresource,
            namespace: resource.namespace,
            name: resource.name,
          }),
        }
      : { nonResourceAttributes: { verb, path } }),
  }
}
