// Tested by src/hub/home/controller-rights.sim.test.ts and src/hub/home/dialects.contract.test.ts
/**
 * Gives the controllers of the embedded home the rights that an enabled dialect needs. On a kube-apiserver an
 * administrator gives them (docs/access.md): a hub there cannot grant itself rights.
 */
import { CONTROLLERS_USER } from '../../apiserver/rbac/controller-rules.ts'
import type { Client } from '../../client/client.ts'
import { deadline } from '../../core/async/deadline.ts'
import { isApiError } from '../../core/errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import { ClusterRole, ClusterRoleBinding } from '../../kinds/builtin/rbac.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'

const GRANT_MS = 60_000
const POLL_MS = 20

/** A dialect, as far as rights are concerned. */
export interface DialectRights {
  readonly name: string
  readonly kinds: readonly Kind[]
  readonly rules: readonly PolicyRule[]
}

/** Applies the role and waits until the controllers may read the kinds of the dialect. */
export async function grantDialectRights(
  { name, kinds, rules }: DialectRights,
  { client, controllers, clock, signal }: RightsParts,
): Promise<void> {
  const role = roleOf(name)
  const apply = { fieldManager: 'flotilla-hub', force: true, signal }
  const head = { kind: ClusterRole.kind, apiVersion: apiVersionOf(ClusterRole), metadata: { name: role } }
  await client.apply(ClusterRole, { ...head, rules: [...rules] }, apply)
  const binding: ClusterRoleBinding = {
    kind: ClusterRoleBinding.kind,
    apiVersion: apiVersionOf(ClusterRoleBinding),
    metadata: { name: role },
    roleRef: { apiGroup: ClusterRole.group, kind: ClusterRole.kind, name: role },
    subjects: [{ apiGroup: ClusterRole.group, kind: 'User', name: CONTROLLERS_USER }],
  }
  await client.apply(ClusterRoleBinding, binding, apply)
  // The authorizer follows the roles; without this wait the first lists of the controllers would be denied.
  const readable = kinds.filter(({ group, plural }) =>
    rules.some(
      ({ apiGroups, resources, verbs }) =>
        apiGroups?.includes(group) && resources?.includes(plural) && verbs.includes('list'),
    ),
  )
  await deadline({ clock, ms: GRANT_MS, signal, what: `the rights of dialect ${name}` }, async (inner) => {
    for (const kind of readable) {
      while (!(await mayList(controllers, kind, inner))) await clock.sleep(POLL_MS, inner)
    }
  })
}

/** Takes the rights of a dialect that the hub does not serve any more. The objects of the dialect stay. */
export async function revokeDialectRights(
  name: string,
  { client, signal }: Pick<RightsParts, 'client' | 'signal'>,
): Promise<void> {
  const role = roleOf(name)
  for (const kind of [ClusterRoleBinding, ClusterRole]) {
    try {
      await client.delete(kind, { name: role }, { signal })
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
    }
  }
}

function roleOf(dialect: string): string {
  return `${CONTROLLERS_USER}:${dialect}`
}

export interface RightsParts {
  /** The API as the administrator. */
  readonly client: Client
  /** The API as the controllers. */
  readonly controllers: Client
  readonly clock: Clock
  readonly signal: AbortSignal
}

async function mayList(client: Client, kind: Kind, signal: AbortSignal): Promise<boolean> {
  try {
    await client.list(kind, { limit: 1 }, signal)
    return true
  } catch (caught) {
    if (!isApiError(caught, 'Forbidden')) throw caught
    return false
  }
}
