import { createApiServer } from '../apiserver/api-server.ts'
import type { ApiServer } from '../apiserver/api-server.ts'
import { BUILTIN_KINDS } from '../kinds/builtin.ts'
import type { Kind } from '../kinds/define-kind.ts'
import { NATIVE_KINDS } from '../kinds/native.ts'
import type { Store } from '../store/store.ts'
import type { HubPorts } from './ports.ts'

// What a hub keeps besides its own kinds; it runs no workloads.
const HUB_BUILTINS: readonly string[] = ['Namespace', 'ConfigMap', 'Secret', 'ServiceAccount', 'Event', 'Lease']
const ACCESS_GROUPS: readonly string[] = ['rbac.authorization.k8s.io', 'authorization.k8s.io', 'authentication.k8s.io']

/** The kinds the embedded home serves. */
export const HUB_KINDS: readonly Kind[] = [
  ...BUILTIN_KINDS.filter(({ kind, group }) => HUB_BUILTINS.includes(kind) || ACCESS_GROUPS.includes(group)),
  ...NATIVE_KINDS,
]

/** What the embedded home's API is made of. */
export interface ApiParts extends HubPorts {
  readonly store: Store
  /** Signs tokens of service accounts; without it none are issued. */
  readonly tokenKey?: string
}

/** The embedded home's API over a store. */
export function composeApi({ store, ...ports }: ApiParts): ApiServer {
  return createApiServer({ ...ports, store, kinds: HUB_KINDS })
}
