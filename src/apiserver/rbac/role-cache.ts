import { isApiError, toError } from '../../core/errors.ts'
import { ClusterRole, ClusterRoleBinding, RBAC_KINDS, Role } from '../../kinds/builtin/rbac.ts'
import type { RoleBinding } from '../../kinds/builtin/rbac.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ServerParts } from '../server/context.ts'
import { storePrefix } from '../storage/stored-object.ts'
import { internBootstrapRules } from './bootstrap.ts'

/** Roles and bindings in memory, updated by a watch of the store: authorization does not read the disk. */
export interface RoleCache {
  role(namespace: string, name: string): Role | undefined
  clusterRole(name: string): ClusterRole | undefined
  clusterRoles(): Iterable<ClusterRole>
  clusterRoleBindings(): Iterable<ClusterRoleBinding>
  roleBindings(namespace: string): Iterable<RoleBinding>
  /** Follows the store until the signal is aborted; `onChange` is called after each change. */
  run(signal: AbortSignal, onChange: () => void): Promise<void>
  /** Reads everything once; the cache is empty before. */
  load(): Promise<void>
}

const GROUP_PREFIX = `/${Role.group}/`
const RETRY_MS = 500

/** A cache of the store's roles and bindings. */
export function createRoleCache({ store, clock, log }: Pick<ServerParts, 'store' | 'clock' | 'log'>): RoleCache {
  const roles = new Map<string, Role>()
  const clusterRoles = new Map<string, ClusterRole>()
  const clusterRoleBindings = new Map<string, ClusterRoleBinding>()
  const roleBindings = new Map<string, Map<string, RoleBinding>>()
  let revision = 0

  function put(key: string, value: string | undefined, previous: string | undefined): void {
    const kind = RBAC_KINDS.find((known) => key.startsWith(storePrefix(known)))
    const text = value ?? previous
    if (!kind || text === undefined) return
    const parsed = JSON.parse(text) as KubeObject
    const object = kind.kind === ClusterRole.kind ? withSharedRules(parsed) : parsed
    set(mapOf(kind, object), keyOf(object), value === undefined ? undefined : object)
  }

  function mapOf(kind: Pick<Kind, 'kind'>, object: KubeObject): Map<string, KubeObject> {
    if (kind.kind === Role.kind) return roles
    if (kind.kind === ClusterRole.kind) return clusterRoles
    if (kind.kind === ClusterRoleBinding.kind) return clusterRoleBindings
    const namespace = object.metadata.namespace ?? ''
    const bindings = roleBindings.get(namespace) ?? new Map<string, RoleBinding>()
    roleBindings.set(namespace, bindings)
    return bindings
  }

  async function load(): Promise<void> {
    const present = await store.list({ prefix: GROUP_PREFIX })
    for (const map of [roles, clusterRoles, clusterRoleBindings, roleBindings]) map.clear()
    for (const { key, value } of present.entries) put(key, value, undefined)
    revision = present.revision
  }

  async function follow(signal: AbortSignal, onChange: () => void): Promise<void> {
    for await (const event of store.watch(GROUP_PREFIX, revision, signal)) {
      put(event.key, event.value, event.previous)
      revision = event.revision
      onChange()
    }
  }

  return {
    role: (namespace, name) => roles.get(`${namespace}/${name}`),
    clusterRole: (name) => clusterRoles.get(name),
    clusterRoles: () => clusterRoles.values(),
    clusterRoleBindings: () => clusterRoleBindings.values(),
    roleBindings: (namespace) => roleBindings.get(namespace)?.values() ?? [],
    load,
    async run(signal, onChange) {
      while (!signal.aborted) {
        try {
          await follow(signal, onChange)
          // Without an abort the store itself was closed.
          return
        } catch (error) {
          if (signal.aborted) return
          if (!isApiError(error, 'Expired')) log.error({ err: toError(error) }, 'role watch failed')
          await clock.sleep(RETRY_MS, signal).catch(() => {})
          await load().catch((caught: unknown) => log.error({ err: toError(caught) }, 'roles could not be read'))
          onChange()
        }
      }
    },
  }
}

function set<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

/** A binding of either kind; they have the same fields. */
export type AnyBinding = RoleBinding

function withSharedRules(role: ClusterRole): ClusterRole {
  const rules = internBootstrapRules(role)
  return rules === undefined ? role : { ...role, rules }
}
