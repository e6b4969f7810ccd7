// Tested by src/controllers/projects.sim.test.ts
import { nameSome } from '../../core/text/name-some.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Project } from '../../kinds/native/project.ts'

/** An object that the Project refuses now. */
export type RefusedObject = NonNullable<NonNullable<Project['status']>['refused']>[number]

/** The ports of project-status. */
export interface ProjectStatusPorts {
  /** Namespaces of the Project that other Projects list, too. */
  contested(project: Project): readonly string[]
  usageOf(project: Project): NonNullable<NonNullable<Project['status']>['usage']>
  /** The objects of the Project's namespaces that are refused now. */
  refusedOf(project: Project): readonly RefusedObject[]
}

/** The most entries of `status.refused`. */
const MAX_REFUSED = 20

/** Shows the usage of a Project and what it refuses. */
export function projectStatusReconciler(ports: ProjectStatusPorts): Reconciler<Project> {
  return {
    name: 'project-status',
    async reconcile(draft: Draft<Project>, _context: Context): Promise<Result> {
      const project = draft.next
      if (project.metadata.deletionTimestamp) return {}
      const status = (project.status ??= {})
      status.usage = ports.usageOf(project)
      const refused = ports.refusedOf(project).toSorted((a, b) => (a.since < b.since ? 1 : -1))
      if (refused.length > 0) status.refused = refused.slice(0, MAX_REFUSED)
      else delete status.refused
      const contested = ports.contested(project)
      if (contested.length > 0) {
        const names = nameSome(contested)
        const message = `Other Projects list ${names}, too, so these namespaces have no Project. Remove them from all but one Project.`
        draft.conditions.set('Ready', 'False', 'SeveralProjects', message)
      } else {
        const count = refused.length
        const told = count === 0 ? 'The Project refuses no object.' : `The Project refuses ${count} of its objects.`
        draft.conditions.set('Ready', 'True', 'Active', told)
      }
      return {}
    },
  }
}
