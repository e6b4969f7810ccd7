// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Kubernetes' kinds whose objects on the hub are templates: no controller of the hub runs them. */
import { ConfigMap, Secret, ServiceAccount } from '../../../kinds/builtin/core.ts'
import { builtinKind } from '../../../kinds/builtin/kind-table.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { CustomResourceDefinition } from '../../../kinds/builtin/apiextensions.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'

/** An object of the hub that runs on clusters. */
export interface Template extends UnknownObject {
  spec?: { replicas?: number; [field: string]: unknown }
  status?: Record<string, unknown>
}

const of = (apiVersion: string, kind: string): Kind<Template> => builtinKind<Template>(apiVersion, kind)

/** Kinds that an ordinary hub does not serve. */
export const SERVED_TEMPLATE_KINDS: readonly Kind<Template>[] = [
  of('apps/v1', 'Deployment'),
  of('apps/v1', 'StatefulSet'),
  of('apps/v1', 'DaemonSet'),
  of('batch/v1', 'Job'),
  of('batch/v1', 'CronJob'),
  of('v1', 'Service'),
  of('v1', 'PersistentVolumeClaim'),
  of('networking.k8s.io/v1', 'Ingress'),
  of('policy/v1', 'PodDisruptionBudget'),
]

/** All kinds that policies can select. */
export const TEMPLATE_KINDS: readonly Kind<Template>[] = [
  ...SERVED_TEMPLATE_KINDS,
  ...([ConfigMap, Secret, ServiceAccount, CustomResourceDefinition] as readonly Kind[] as readonly Kind<Template>[]),
]

const BY_ID = new Map(TEMPLATE_KINDS.map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind]))

/** The kind of a template. */
export function templateKind({ apiVersion, kind }: Template): Kind<Template> | undefined {
  return BY_ID.get(`${apiVersion} ${kind}`)
}

/** Kinds whose pods, and so whose replicas, can be divided among clusters. */
export function isDivisible({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return DIVISIBLE.has(`${apiVersion} ${kind}`)
}

const DIVISIBLE: ReadonlySet<string> = new Set(['apps/v1 Deployment', 'apps/v1 StatefulSet', 'batch/v1 Job'])
