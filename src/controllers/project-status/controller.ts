// Tested by src/controllers/projects.sim.test.ts
import type { Informer } from '../../client/informer.ts'
import { findCondition } from '../../core/conditions.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { triggerOn } from '../../engine/trigger.ts'
import type { Trigger } from '../../engine/trigger.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import { Project } from '../../kinds/native/project.ts'
import type { Caches } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { isProjectReason } from '../../plan/projects/project-of.ts'
import { sourceItems } from '../caches/namespace-projects.ts'
import { projectStatusReconciler } from './reconcile.ts'
import type { RefusedObject } from './reconcile.ts'

type WithConditions = KubeObject & { readonly status?: { readonly conditions?: Condition[] } }

/** Creates the controller that shows the usage of Projects and what they refuse. */
export function createProjectStatus(parts: ControllerParts): Controller {
  const { caches } = parts
  caches.projects.addIndex('namespace', ({ spec }) => spec.namespaces ?? [])
  const inProject = <T extends KubeObject>(informer: Informer<T>, { spec }: Project): T[] =>
    (spec.namespaces ?? []).flatMap((namespace) => informer.lister.list(namespace))
  const reconciler = projectStatusReconciler({
    contested: ({ spec }) =>
      (spec.namespaces ?? []).filter((namespace) => caches.projects.lister.by('namespace', namespace).length > 1),
    usageOf: (project) => {
      const sources = sourceItems(caches, project)
      return {
        bundles: inProject(caches.bundles, project).length,
        sources: sources.length,
        bytes: sources.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
      }
    },
    refusedOf: (project) =>
      [caches.sources, caches.bundles, caches.placements].flatMap((informer) =>
        inProject(informer as Informer<WithConditions>, project).flatMap((object) => refusalOf(object) ?? []),
      ),
  })
  return createController({
    ...parts,
    type: Project,
    informer: caches.projects,
    reconciler,
    triggers: triggersOf(caches),
  })
}

function refusalOf(object: WithConditions): RefusedObject | undefined {
  const ready = findCondition(object.status?.conditions, 'Ready')
  if (!ready || ready.status !== 'False' || !isProjectReason(ready.reason)) return undefined
  const { lastTransitionTime: since, message } = ready
  return { kind: object.kind, object: keyOf(object), since, message: message.slice(0, 1024) }
}

function triggersOf(caches: Caches): readonly Trigger[] {
  const projectsOf = (namespace: string) => caches.projects.lister.by('namespace', namespace).map(keyOf)
  const told = (object: WithConditions | undefined) => object && JSON.stringify(refusalOf(object) ?? '')
  const ofKind = <T extends KubeObject>(informer: Informer<T>, read: (object: T | undefined) => unknown) =>
    triggerOn(informer, ({ before, after }) => {
      const isSame = read(before) === read(after) && told(before) === told(after)
      return isSame ? [] : projectsOf((after ?? before)?.metadata.namespace ?? '')
    })
  return [
    ofKind(caches.bundles, (bundle) => bundle !== undefined),
    ofKind(caches.sources, (source) => source && (source.status?.artifact?.bytes ?? 0)),
    ofKind(caches.placements, (placement) => placement !== undefined),
    // A Project that lists a namespace, or no longer lists it, concerns the other Projects of the namespace.
    triggerOn(caches.projects, ({ before, after }) =>
      [before, after].flatMap((project) => (project?.spec.namespaces ?? []).flatMap(projectsOf)),
    ),
  ]
}
