import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { itemsAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { forbidden as forbiddenField, invalid } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import type { Admission } from '../server/admission.ts'
import type { Authorizer } from '../rbac/authorizer.ts'
import { forbidden } from '../http/api-errors.ts'

/** The subresource `approval` of certificate signing requests: `kubectl certificate approve`. */

/** Whether a kind is the one of certificate requests. */
export function isCertificateRequest(kind: Pick<Kind, 'group' | 'kind'>): boolean {
  return kind.group === 'certificates.k8s.io' && kind.kind === 'CertificateSigningRequest'
}

/** What an approval makes of a request: its conditions and nothing else, with the times of new conditions. */
export function applyApproval(old: UnknownObject, wanted: UnknownObject, nowMs: number): JsonObject {
  const before = itemsAt(old, 'status.conditions')
  const now = formatTime(nowMs)
  const conditions = itemsAt(wanted, 'status.conditions').map((condition) => {
    const known = before.find(({ type }) => type === condition['type'])
    const since = known?.['status'] === condition['status'] ? known?.['lastTransitionTime'] : undefined
    return {
      ...condition,
      lastUpdateTime: condition['lastUpdateTime'] ?? now,
      lastTransitionTime: condition['lastTransitionTime'] ?? since ?? now,
    }
  })
  const status = isObject(old['status']) ? old['status'] : {}
  return { ...structuredClone(status), conditions }
}

/** What is wrong with the conditions of a request: a decision is made once. */
export function decisionErrors(object: UnknownObject, old: UnknownObject | undefined): FieldError[] {
  const typesOf = (of: UnknownObject | undefined) =>
    new Set(itemsAt(of, 'status.conditions').map(({ type }) => String(type)))
  const types = typesOf(object)
  const errors: FieldError[] = []
  if (types.has('Approved') && types.has('Denied')) {
    errors.push(invalid('status.conditions', 'Denied', 'Approved and Denied conditions are mutually exclusive'))
  }
  for (const type of typesOf(old)) {
    if (['Approved', 'Denied', 'Failed'].includes(type) && !types.has(type)) {
      const why = `updates may not remove a condition of type ${JSON.stringify(type)}`
      errors.push(forbiddenField('status.conditions', why))
    }
  }
  return errors
}

/** Refuses who may not approve for the signer, and then asks the next. */
export function refuseApproval(authorizer: Authorizer, next: Admission): Admission {
  return async (request) => {
    const { kind, subresource, object, caller } = request
    if (subresource === 'approval' && object && isCertificateRequest(kind)) {
      const signer = textAt(object, 'spec.signerName')
      const names = [signer, `${signer.slice(0, signer.indexOf('/'))}/*`]
      const may = async (name: string) => {
        const resource = { group: kind.group, plural: 'signers', name }
        return (await authorizer.authorize({ caller, verb: 'approve', path: '', resource })).allowed
      }
      if (!(await may(names[0]!)) && !(await may(names[1]!))) {
        const why = `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`
        throw forbidden(kind, object.metadata.name, why)
      }
    }
    return next(request)
  }
}
