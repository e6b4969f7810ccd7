/** Dialects of this hub: their CRDs are installed if missing, and their controllers run beside the hub's own. */
import type { Client } from '../../client/client.ts'
import type { DialectControllers } from '../../controllers/controllers.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError } from '../../core/errors.ts'
import { ARGO_CONTROLLER_RULES } from '../../dialects/argo/controller-rules.ts'
import { ARGO_KINDS } from '../../dialects/argo/kinds.ts'
import { ARGO_POLICIES } from '../../dialects/argo/argo-policies.ts'
import { ARGO_ROLES } from '../../dialects/argo/roles.ts'
import { createArgoControllers } from '../../dialects/argo/served/argo-controllers.ts'
import { FLEET_CONTROLLER_RULES } from '../../dialects/fleet/controller-rules.ts'
import { createFleetControllers } from '../../dialects/fleet/controllers/fleet-controllers.ts'
import { FLEET_POLICIES } from '../../dialects/fleet/cluster-policy.ts'
import { FLEET_KINDS } from '../../dialects/fleet/kinds.ts'
import { FLUX_CONTROLLER_RULES } from '../../dialects/flux/controller-rules.ts'
import { createFluxControllers } from '../../dialects/flux/controllers/flux-controllers.ts'
import { FLUX_KINDS } from '../../dialects/flux/kinds.ts'
import { KARMADA_CONTROLLER_RULES } from '../../dialects/karmada/controller-rules.ts'
import { KARMADA_ROLES } from '../../dialects/karmada/roles.ts'
import { createKarmadaControllers } from '../../dialects/karmada/served/karmada-controllers.ts'
import { KARMADA_KINDS } from '../../dialects/karmada/served/kinds.ts'
import { KARMADA_POLICIES } from '../../dialects/karmada/served/write-policies.ts'
import { OCM_CONTROLLER_RULES } from '../../dialects/ocm/controller-rules.ts'
import { FLUX_ROLES } from '../../dialects/flux/roles.ts'
import { OCM_KINDS, OCM_ROLES } from '../../dialects/ocm/roles.ts'
import { createAddonControllers } from '../../dialects/ocm/addons/addon-controllers.ts'
import { createReplicaSetControllers } from '../../dialects/ocm/replica-sets/replica-set-controllers.ts'
import { createPolicyControllers } from '../../dialects/ocm/policy/served/policy-controllers.ts'
import { WORK_EXECUTE_POLICY } from '../../dialects/ocm/works/execute-policy.ts'
import { createWorkControllers } from '../../dialects/ocm/works/work-controllers.ts'
import { OCM_FACE_POLICIES } from '../../dialects/ocm/faces/face-policies.ts'
import { createOcmControllers } from '../../dialects/ocm/ocm-controllers.ts'
import { ClusterRole } from '../../kinds/builtin/rbac.ts'
import type { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { shippedPolicyBinding } from '../../kinds/policies/shipped-policy.ts'
import { toCrd } from '../../kinds/crd/to-crd.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { DIALECT_NAMES } from './dialect-names.ts'
import type { DialectName } from './dialect-names.ts'
import { grantDialectRights, revokeDialectRights } from './dialect-roles.ts'
import { installDialectProjects } from './first-projects.ts'
import { ensureNamespace } from './hub-info.ts'
import { applyPolicies, CrdResource, waitUntilServed } from './kube-home.ts'

/** What a dialect brings. */
interface Dialect {
  readonly kinds: readonly Kind[]
  /** Namespaces its users expect. */
  readonly namespaces: readonly string[]
  /** Rules about writes of its kinds. */
  readonly policies?: readonly ValidatingAdmissionPolicy[]
  /** What view and edit of a namespace mean for its kinds. */
  readonly roles?: readonly ClusterRole[]
  readonly controllers: DialectControllers
  /** Rights of its controllers, besides the rights of all controllers. */
  readonly rules: readonly PolicyRule[]
}

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  fleet: {
    kinds: FLEET_KINDS,
    namespaces: ['fleet-default', 'fleet-local'],
    policies: FLEET_POLICIES,
    controllers: createFleetControllers,
    rules: FLEET_CONTROLLER_RULES,
  },
  flux: {
    kinds: FLUX_KINDS,
    namespaces: ['flux-system'],
    roles: FLUX_ROLES,
    controllers: createFluxControllers,
    rules: FLUX_CONTROLLER_RULES,
  },
  ocm: {
    kinds: OCM_KINDS,
    namespaces: [],
    policies: [...OCM_FACE_POLICIES, WORK_EXECUTE_POLICY],
    roles: OCM_ROLES,
    controllers: (parts) => [
      ...createOcmControllers(parts),
      ...createWorkControllers(parts),
      ...createReplicaSetControllers(parts),
      ...createAddonControllers(parts),
      ...createPolicyControllers(parts),
    ],
    rules: OCM_CONTROLLER_RULES,
  },
  argo: {
    kinds: ARGO_KINDS,
    namespaces: ['argocd'],
    policies: ARGO_POLICIES,
    roles: ARGO_ROLES,
    controllers: createArgoControllers,
    rules: ARGO_CONTROLLER_RULES,
  },
  karmada: {
    kinds: KARMADA_KINDS,
    namespaces: ['karmada-system'],
    policies: KARMADA_POLICIES,
    roles: KARMADA_ROLES,
    controllers: createKarmadaControllers,
    rules: KARMADA_CONTROLLER_RULES,
  },
}

/** The label of CRDs that a dialect installed; only CRDs with this label are ever changed. */
export const DIALECT_LABEL = 'flotilla.dev/dialect'

/** The controllers of dialects. */
export function dialectControllers(names: readonly DialectName[]): DialectControllers[] {
  return names.map((name) => DIALECTS[name].controllers)
}

/** The rights that the controllers of dialects need, besides the rights of all controllers. */
export function dialectRules(names: readonly DialectName[]): readonly PolicyRule[] {
  return names.flatMap((name) => DIALECTS[name].rules)
}

/** The kinds of a dialect. */
export function dialectKinds(name: DialectName): readonly Kind[] {
  return DIALECTS[name].kinds
}

/** The cluster roles that a dialect writes. */
export function dialectRoles(name: DialectName): readonly ClusterRole[] {
  return DIALECTS[name].roles ?? []
}

/**
 * What an installation works with. `controllers` is the API as the controllers' user, for the embedded home, where the
 * hub grants this user the rights that the dialect needs.
 */
interface DialectParts {
  readonly client: Client
  readonly controllers?: Client
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Installs the CRDs and namespaces of dialects. An existing CRD, installed by the peer, stays unchanged. On the
 * embedded home, the controllers lose the rights of dialects that are not served any more.
 * Returns the dialects that were not installed before.
 */
export async function installDialects(
  names: readonly DialectName[],
  parts: DialectParts,
): Promise<readonly DialectName[]> {
  const { client, controllers, clock, signal } = parts
  const isNew = new Map<DialectName, boolean>()
  if (controllers) {
    const unserved = DIALECT_NAMES.filter((name) => !names.includes(name))
    for (const name of unserved) await revokeDialectRights(name, { client, signal })
  }
  // Dialects are independent of each other, and one that is slow to be served does not delay the others.
  await Promise.all(
    names.map(async (name) => {
      const { kinds, policies = [], roles = [], rules } = DIALECTS[name]
      const created = await Promise.all(kinds.map(async (kind) => await installKind(name, kind, client, signal)))
      isNew.set(name, created.includes(true))
      await applyPolicies(policies, policies.map(shippedPolicyBinding), { client, signal })
      for (const role of roles)
        await client.apply(ClusterRole, role, { fieldManager: 'flotilla-hub', force: true, signal })
      await waitUntilServed(kinds, parts)
      if (controllers) await grantDialectRights({ name, kinds, rules }, { client, controllers, clock, signal })
    }),
  )
  for (const name of names) {
    const { namespaces } = DIALECTS[name]
    for (const namespace of namespaces) await ensureNamespace(client, namespace)
    // Only the namespaces that the dialect owns: another namespace with a GitRepo needs a Project of its own.
    await installDialectProjects({ client, signal }, name, namespaces)
  }
  return names.filter((name) => isNew.get(name))
}

/** Whether the kind was not installed before. */
async function installKind(dialect: string, kind: Kind, client: Client, signal: AbortSignal): Promise<boolean> {
  const crd = toCrd(kind)
  const own = { ...crd, metadata: { ...crd.metadata, labels: { [DIALECT_LABEL]: dialect } } }
  try {
    const present = await client.get(CrdResource, { name: crd.metadata.name }, signal)
    if (present.metadata.labels?.[DIALECT_LABEL] === dialect) {
      await client.apply(CrdResource, own, { fieldManager: 'flotilla-hub', force: true, signal })
    }
    return false
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    try {
      await client.create(CrdResource, own, { fieldManager: 'flotilla-hub', signal })
      return true
    } catch (raced) {
      // Another hub or the peer has created it meanwhile.
      if (!isApiError(raced, 'AlreadyExists')) throw raced
      return false
    }
  }
}
