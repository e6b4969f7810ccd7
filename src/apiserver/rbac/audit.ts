import { formatMicroTime } from '../../core/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Parts } from '../context.ts'

/** Who the server is when it writes roles by itself. */
export type RbacWriter = 'system:apiserver' | 'system:serviceaccount:kube-system:clusterrole-aggregation-controller'

/** The line of the audit chain for a role the server wrote by itself. */
export function ownAuditLine(
  { clock }: Pick<Parts, 'clock'>,
  user: RbacWriter,
  { kind, object, verb }: { readonly kind: Kind; readonly object: UnknownObject; readonly verb: 'create' | 'update' },
): string {
  const { name, namespace, uid } = object.metadata
  return JSON.stringify({
    time: formatMicroTime(clock.now()),
    user,
    groups: ['system:masters'],
    verb,
    group: kind.group,
    resource: kind.plural,
    ...(namespace ? { namespace } : {}),
    name,
    uid,
  })
}
