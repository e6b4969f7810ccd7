// Tested by src/dialects/argo/served/nested/nested-limits.sim.test.ts
/**
 * What an ApplicationSet from the content of an Application may not do: it was written by the owner of a repository,
 * and not by a user of the hub.
 */
import { isObject } from '../../../../core/json.ts'
import { NESTED_DEPTH, NESTED_IN, NESTED_PROJECT } from '../../annotations.ts'
import type { ServiceFailure } from '../../applicationset/generate-inputs.ts'
import type { Application, ApplicationSet } from '../../kinds.ts'
import type { ServiceQuestion } from '../../scm/ask-service.ts'
import { ANY_PROJECT, OWN_ANNOTATIONS, projectSentence } from './nested-content.ts'

interface Nested {
  /** The Application whose content the set is from. */
  readonly outer: string
  /** The AppProject of all that the set makes, or ANY_PROJECT; empty when a sync has not written it yet. */
  readonly project: string
}

/** Where a set is from; undefined when a user wrote it. */
function nestedSet({ metadata: { annotations = {} } }: ApplicationSet): Nested | undefined {
  const { [NESTED_IN]: outer, [NESTED_PROJECT]: project = '' } = annotations
  return outer === undefined ? undefined : { outer, project }
}

/** The AppProject whose repository Secrets a set may read with; `own` is that of its template. */
export function accessProject(set: ApplicationSet, own: string): string {
  const project = nestedSet(set)?.project
  return project === undefined || project === ANY_PROJECT ? own : project
}

/** Why Applications of a set from content cannot be written; undefined when they can. */
export function nestedSetProblem(set: ApplicationSet, applications: readonly Application[]): string | undefined {
  const nested = nestedSet(set)
  if (!nested) return undefined
  const { outer, project } = nested
  if (project === '')
    return `the AppProject of Application ${outer} is not known to ApplicationSet ${set.metadata.name}, which is from its content; sync Application ${outer}`
  for (const { metadata, spec } of applications) {
    const named = `Application ${metadata.name}`
    if (project !== ANY_PROJECT && spec.project !== project)
      return `${named} is refused: ${projectSentence(spec.project, outer, project)}`
    const own = Object.keys(metadata.annotations ?? {}).find((key) => key.startsWith(OWN_ANNOTATIONS))
    if (own !== undefined)
      return `annotation ${own} of ${named} is refused, because ${origin(set, outer)}; annotate the Application on the hub instead`
  }
  return undefined
}

/** Why a generator of a set from content may not ask a service: the hub would send a token where the content says. */
export function refusedQuestion(set: ApplicationSet, { kind, generator }: ServiceQuestion): ServiceFailure | undefined {
  const nested = nestedSet(set)
  const isKnown = (one: unknown) => isObject(one) && one['tokenRef'] !== undefined && one['tokenRef'] !== null
  const hasToken = kind === 'plugin' || Object.values(generator).some(isKnown)
  if (!nested || !hasToken) return undefined
  const asked = kind === 'plugin' ? kind : `${kind} with tokenRef`
  const failure = `generator ${asked} is refused, because ${origin(set, nested.outer)}; apply the ApplicationSet to the hub`
  return { failure, isNotFound: false }
}

/** Why a set from content does not write an Application that it did not make; undefined when it does. */
export function foreignProblem(
  set: ApplicationSet,
  name: string,
  present: Pick<Application, 'metadata'> | undefined,
): string | undefined {
  const nested = nestedSet(set)
  if (!nested || !present) return undefined
  if (present.metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid)) return undefined
  return `Application ${name} was not made by ApplicationSet ${set.metadata.name}, which is from the content of Application ${nested.outer}; change metadata.name in the template, or delete the Application`
}

/** Annotations of the Applications of a set: they are on its level. */
export function annotationsBelow({ metadata }: ApplicationSet): Readonly<Record<string, string>> {
  const level = metadata.annotations?.[NESTED_DEPTH]
  return level === undefined ? {} : { [NESTED_DEPTH]: level }
}

function origin({ metadata }: ApplicationSet, outer: string): string {
  return `ApplicationSet ${metadata.name} is from the content of Application ${outer}`
}
