import { compact } from '../../core/compact.ts'
import { formatMicroTime } from '../../core/time/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from './context.ts'

/** Who the server is when it writes by itself: the part of Kubernetes that would do it. */
export type InternalWriter =
  | 'system:apiserver'
  | `system:serviceaccount:kube-system:${'clusterrole-aggregation-controller' | 'namespace-controller' | 'resourcequota-controller' | 'root-ca-cert-publisher' | 'service-account-controller' | 'validatingadmissionpolicy-status-controller'}`

/** The line of the audit chain for an object the server wrote by itself. */
export function internalAuditLine(
  { clock }: Pick<ServerParts, 'clock'>,
  user: InternalWriter,
  {
    kind,
    object,
    verb,
  }: { readonly kind: Kind; readonly object: UnknownObject; readonly verb: 'create' | 'update' | 'delete' },
): string {
  const { name, namespace, uid } = object.metadata
  return JSON.stringify({
    time: formatMicroTime(clock.now()),
    user,
    groups: ['system:masters'],
    verb,
    group: kind.group,
    resource: kind.plural,
    ...compact({ namespace: namespace || undefined }),
    name,
    uid,
  })
}
