import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import { TokenRequest } from '../../kinds/builtin/reviews.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { invalid, invalidObject } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import { validateObject } from '../../kinds/validation/validate-object.ts'
import type { VerbResponse } from '../http/respond.ts'
import type { RequestContext } from '../server/context.ts'
import { decodeObject } from '../http/decode-body.ts'
import { decodeAndDefault } from '../verbs/receive-object.ts'
import { readObject } from '../storage/stored-object.ts'
import { writeOptions } from '../http/request-options.ts'
import { badRequest, conflict, methodNotAllowed, notFound } from '../http/api-errors.ts'
import { bindableKind } from '../tokens/service-account-tokens.ts'
import type { ServiceAccountTokens } from '../tokens/service-account-tokens.ts'

/** POST of serviceaccounts/NAME/token: a token for an account. */

const DEFAULT_SECONDS = 3600
const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32
/** Longest lifetime of a token. As a kube-apiserver with a maximum, the hub shortens longer requests. */
const LONGEST_SECONDS = 365 * 86_400

/** Answers a TokenRequest. */
export async function requestToken(context: RequestContext, tokens: ServiceAccountTokens): Promise<VerbResponse> {
  const { request, http, query, kind, parts } = context
  if (request.verb !== 'create' || request.name === undefined) throw methodNotAllowed()
  const options = writeOptions('CreateOptions', query, http)
  const { value, repeated } = decodeObject(http)
  const { object, warnings } = decodeAndDefault(TokenRequest, value, { repeated, validation: options.fieldValidation })
  const spec = specOf(object)
  const key = compact({ name: request.name, namespace: request.namespace || undefined })
  const account = await readObject(parts.store, kind, key)
  if (!account) throw notFound(kind, request.name)
  const bound = spec.boundObjectRef && (await boundObject(context, spec.boundObjectRef))
  const audiences = spec.audiences?.length ? spec.audiences : [tokens.audience]
  const wanted = spec.expirationSeconds ?? DEFAULT_SECONDS
  const seconds = Math.min(wanted, LONGEST_SECONDS)
  const shortened = `spec.expirationSeconds: the hub issues tokens for at most ${LONGEST_SECONDS} seconds (365 days), and shortened the requested ${wanted} seconds`
  const { token, expires } = tokens.issue(compact({ account: account.object, audiences, seconds, bound }))
  const { name, namespace, uid } = account.object.metadata
  return {
    status: 201,
    warnings: seconds < wanted ? [...warnings, shortened] : warnings,
    object: {
      kind: TokenRequest.kind,
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace, uid, creationTimestamp: formatTime(parts.clock.now()) },
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
      status: { token, expirationTimestamp: formatTime(expires) },
    },
  }
}

type Spec = NonNullable<TokenRequest['spec']>

function specOf(object: UnknownObject): Spec {
  const spec: Spec = isObject(object['spec']) ? object['spec'] : {}
  const problems = validateObject(TokenRequest, { ...object, metadata: { name: 'x', namespace: 'x' } })
  const seconds = spec.expirationSeconds
  const errors: FieldError[] = [...problems]
  if (typeof seconds === 'number' && seconds < MIN_SECONDS) {
    errors.push(invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes'))
  } else if (typeof seconds === 'number' && seconds > MAX_SECONDS) {
    errors.push(invalid('spec.expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  if (errors.length > 0) throw invalidObject(TokenRequest, '', errors)
  return spec
}

async function boundObject(
  { parts, request }: RequestContext,
  reference: NonNullable<Spec['boundObjectRef']>,
): Promise<UnknownObject> {
  const { kind: kindName = '', apiVersion = '', name = '', uid } = reference
  const kind = apiVersion === 'v1' ? bindableKind(parts, kindName) : undefined
  if (!kind) throw badRequest(`cannot bind token to object of type /${apiVersion}, Kind=${kindName}`)
  const namespace = kind.scope === 'Namespaced' && request.namespace ? { namespace: request.namespace } : {}
  const stored = await readObject(parts.store, kind, { name, ...namespace })
  if (!stored) throw notFound(kind, name)
  const { uid: present } = stored.object.metadata
  if (uid && uid !== present) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict(kind, name, why)
  }
  return stored.object
}
