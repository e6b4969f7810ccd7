/** The home on a real kube-apiserver: our kinds as CRDs, the rest as it is in the embedded home. */
import { HUB_ROLES } from '../../apiserver/rbac/bootstrap-roles.ts'
import type { Client } from '../../client/client.ts'
import { deadline } from '../../core/async/deadline.ts'
import type { Clock } from '../../core/time/clock.ts'
import {
  ACCEPT_BINDING,
  ACCEPT_POLICY,
  JOIN_TOKEN_BINDING,
  JOIN_TOKEN_POLICY,
  KEYS_BINDING,
  KEYS_POLICY,
  PUSH_BINDING,
  PUSH_POLICY,
} from '../../kinds/policies/accept-policy.ts'
import {
  APPROVE_BINDING,
  APPROVE_POLICY,
  ROLLOUT_PROTECTION_BINDING,
  ROLLOUT_PROTECTION_POLICY,
} from '../../kinds/policies/approve-policy.ts'
import { BIND_BINDING, BIND_POLICY } from '../../kinds/policies/bind-policy.ts'
import { EXCEPTION_BINDING, EXCEPTION_POLICY } from '../../kinds/policies/exception-policy.ts'
import { RULE_EXCEPTION_BINDING, RULE_EXCEPTION_POLICY } from '../../kinds/policies/rule-exception-policy.ts'
import { GATEWAY_BINDING, GATEWAY_POLICY } from '../../kinds/policies/gateway-policy.ts'
import { REVEAL_BINDING, REVEAL_POLICY } from '../../kinds/policies/reveal-policy.ts'
import { PROJECT_POLICIES } from '../../kinds/policies/project-policy.ts'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../kinds/builtin/admission.ts'
import { ClusterRole } from '../../kinds/builtin/rbac.ts'
import { toCrd } from '../../kinds/crd/to-crd.ts'
import type { CustomResourceDefinition } from '../../kinds/crd/to-crd.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { Condition, KubeObject, ResourceType } from '../../kinds/meta.ts'

/** CustomResourceDefinitions, as far as they are looked at here. */
export const CrdResource: ResourceType<CustomResourceDefinition & { status?: { conditions?: Condition[] } }> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
}

const POLICIES = [
  ACCEPT_POLICY,
  KEYS_POLICY,
  PUSH_POLICY,
  JOIN_TOKEN_POLICY,
  GATEWAY_POLICY,
  REVEAL_POLICY,
  BIND_POLICY,
  APPROVE_POLICY,
  ROLLOUT_PROTECTION_POLICY,
  EXCEPTION_POLICY,
  RULE_EXCEPTION_POLICY,
  ...PROJECT_POLICIES.map(([policy]) => policy),
]
const BINDINGS = [
  ACCEPT_BINDING,
  KEYS_BINDING,
  PUSH_BINDING,
  JOIN_TOKEN_BINDING,
  GATEWAY_BINDING,
  REVEAL_BINDING,
  BIND_BINDING,
  APPROVE_BINDING,
  ROLLOUT_PROTECTION_BINDING,
  EXCEPTION_BINDING,
  RULE_EXCEPTION_BINDING,
  ...PROJECT_POLICIES.map(([, binding]) => binding),
]

const ESTABLISH_MS = 60_000
const POLL_MS = 100

/** Applies the policies that ship with our kinds; the same on both homes. */
export async function installPolicies(client: Client, signal: AbortSignal): Promise<void> {
  await applyPolicies(POLICIES, BINDINGS, { client, signal })
}

/** Applies policies and their bindings. */
export async function applyPolicies(
  policies: readonly ValidatingAdmissionPolicy[],
  bindings: readonly ValidatingAdmissionPolicyBinding[],
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
): Promise<void> {
  const options = { fieldManager: 'flotilla-hub', force: true, signal }
  for (const policy of policies) await client.apply(ValidatingAdmissionPolicy, policy, options)
  for (const binding of bindings) await client.apply(ValidatingAdmissionPolicyBinding, binding, options)
}

/**
 * Applies what view, edit and admin mean for our kinds, and who may approve; the embedded home has them from the
 * start.
 */
export async function installRoles(client: Client, signal: AbortSignal): Promise<void> {
  for (const { name, labels = {}, rules = [] } of HUB_ROLES.filter((role) => !role.name.startsWith('system:'))) {
    const metadata = { name, labels: { ...labels } }
    const role = { apiVersion: apiVersionOf(ClusterRole), kind: ClusterRole.kind, metadata, rules: [...rules] }
    await client.apply(ClusterRole, role, { fieldManager: 'flotilla-hub', force: true, signal })
  }
}

/**
 * Applies the CRDs of our kinds and waits until the API serves them; safe to repeat, also by several hubs at once.
 */
export async function installKinds(client: Client, clock: Clock, signal: AbortSignal): Promise<void> {
  for (const kind of NATIVE_KINDS) {
    await client.apply(CrdResource, toCrd(kind), { fieldManager: 'flotilla-hub', force: true, signal })
  }
  await waitUntilServed(NATIVE_KINDS, { client, clock, signal })
}

/** Waits until the API serves kinds whose CRDs are there. */
export async function waitUntilServed(
  kinds: readonly ResourceType<KubeObject>[],
  { client, clock, signal }: { readonly client: Client; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  await deadline({ clock, ms: ESTABLISH_MS, signal, what: 'CRDs becoming Established' }, async (inner) => {
    const isEach = kinds.map(async (kind) => {
      while (!(await isServed(client, kind, inner))) await clock.sleep(POLL_MS, inner)
    })
    await Promise.all(isEach)
  })
}

async function isServed(client: Client, kind: ResourceType<KubeObject>, signal: AbortSignal): Promise<boolean> {
  const { status } = await client.get(CrdResource, { name: `${kind.plural}.${kind.group}` }, signal)
  if (!status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')) return false
  // Established is said a moment before every handler knows it.
  return await client.list(kind, { limit: 1 }, signal).then(
    () => true,
    () => false,
  )
}
