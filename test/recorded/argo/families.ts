/** The families of Argo CD's recorded answers, each with the product's function that answers it. */
import { isObject } from '../../../src/core/json.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { parseTime } from '../../../src/core/time/time.ts'
import {
  isApplicationNamespacePermitted,
  isDestinationPermitted,
  isKindPermitted,
  isSourcePermitted,
} from '../../../src/dialects/argo/projects/project-permissions.ts'
import type { ProjectCluster, ProjectDestination } from '../../../src/dialects/argo/projects/project-permissions.ts'
import { projectProblem } from '../../../src/dialects/argo/projects/validate-project.ts'
import type { CheckedProject } from '../../../src/dialects/argo/projects/validate-project.ts'
import { orderSync } from '../../../src/dialects/argo/sync/sync-order.ts'
import type { SyncInput, SyncTask } from '../../../src/dialects/argo/sync/sync-order.ts'
import {
  activeWindows,
  canSync,
  matchingWindows,
  SyncWindowError,
} from '../../../src/dialects/argo/sync/sync-windows.ts'
import type { SyncWindow, WindowApplication } from '../../../src/dialects/argo/sync/sync-windows.ts'
import { readFirstYaml } from '../../../src/yaml/read/read-yaml.ts'
import type { RecordedCase } from '../recorded-case.ts'
import { answerSet, isSameSet } from './applicationset-cases.ts'

interface Project {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: CheckedProject
}

function projectOf(text: unknown): Project {
  const { value } = readFirstYaml(String(text), { resolver: '1.1', duplicateKeys: 'last' })
  const { metadata, spec } = value as { readonly metadata: Project['metadata']; readonly spec?: CheckedProject }
  return { metadata, spec: spec ?? {} }
}

function problemOf({ metadata, spec }: Project): { readonly invalid?: string } {
  const invalid = projectProblem(metadata.name, spec)
  return invalid === undefined ? {} : { invalid }
}

function order(input: RecordedCase): unknown {
  const given = input as unknown as Omit<SyncInput, 'startedMs' | 'clusterScoped' | 'unknownKinds'> & {
    readonly startedAt: string
    readonly clusterScoped: readonly string[]
    readonly unknownKinds?: readonly string[]
  }
  const { tasks, allKnown } = orderSync({
    ...given,
    startedMs: parseTime(given.startedAt)!,
    clusterScoped: new Set(given.clusterScoped),
    unknownKinds: new Set(given.unknownKinds),
  })
  return { ...(allKnown ? {} : { allKnown }), tasks: tasks.map(recordedTask) }
}

function recordedTask({ isHook, isPrune, hasLive, skipsDryRun, ...task }: SyncTask): JsonObject {
  return {
    ...task,
    ...(isHook && { hook: true }),
    ...(isPrune && { prune: true }),
    ...(hasLive && { live: true }),
    ...(skipsDryRun && { skipDryRun: true }),
  }
}

function windows(input: RecordedCase): unknown {
  const project = projectOf(input['project'])
  const all = project.spec.syncWindows ?? []
  const matching = matchingWindows(all, input['app'] as WindowApplication)
  const times = input['times'] as readonly { readonly at: string; readonly started?: readonly string[] }[]
  const index = (those: readonly SyncWindow[]): number[] => those.map((one) => all.indexOf(one))
  const answers = times.map(({ at, started }) => {
    const atMs = parseTime(at)!
    const both = (startedMs?: number): JsonObject => ({
      auto: canSync(matching, { atMs, isManual: false, ...(startedMs !== undefined && { startedMs }) }),
      manual: canSync(matching, { atMs, isManual: true, ...(startedMs !== undefined && { startedMs }) }),
    })
    try {
      return {
        at,
        matches: index(matching),
        active: index(activeWindows(matching, atMs)),
        ...both(),
        ...(started && { running: started.map((one) => ({ started: one, ...both(parseTime(one)) })) }),
      }
    } catch (caught) {
      if (!(caught instanceof SyncWindowError)) throw caught
      const { message } = caught
      const texts = { auto: message, manual: message }
      return {
        at,
        matches: index(matching),
        error: message,
        ...texts,
        ...(started && { running: started.map((one) => ({ started: one, ...texts })) }),
      }
    }
  })
  return { answers, ...problemOf(project) }
}

function projects(input: RecordedCase): unknown {
  const project = projectOf(input['project'])
  const { spec, metadata } = project
  const clusters = input['projectClusters'] as readonly ProjectCluster[]
  const destinations = input['destinations'] as readonly ProjectDestination[]
  const resources = input['resources'] as readonly {
    readonly group: string
    readonly kind: string
    readonly name: string
    readonly namespace: string
  }[]
  const kinds = resources.map((resource) => isKindPermitted(spec, resource, resource.namespace !== ''))
  return {
    sources: (input['sources'] as readonly string[]).map((address) => isSourcePermitted(spec, address)),
    destinations: destinations.map((destination) => isDestinationPermitted(spec, destination, clusters)),
    kinds,
    resources: resources.map(({ namespace }, at) => {
      if (!kinds[at] || namespace === '') return kinds[at]
      return isDestinationPermitted(spec, { ...destinations[at % destinations.length], namespace }, clusters)
    }),
    applicationNamespaces: (input['applicationNamespaces'] as readonly string[]).map((namespace) =>
      isApplicationNamespacePermitted(spec, namespace, metadata.namespace),
    ),
    ...problemOf(project),
  }
}

/** Whether an answer is as good as the recorded one, as the recording's notes define it. */
export function isSameAnswer(family: string, answer: unknown, expect: unknown): boolean {
  return SAME[family]!(answer as JsonObject, expect as JsonObject)
}

const SAME: Readonly<Record<string, (answer: JsonObject, expect: JsonObject) => boolean>> = {
  order: (answer, expect) => {
    const key = (tasks: unknown): string[] =>
      (tasks as readonly SyncTask[]).map(({ phase, wave, kind, name }) => JSON.stringify([phase, wave, kind, name]))
    const [own, theirs] = [key(answer['tasks']), key(expect['tasks'])]
    return (
      JSON.stringify(expect['varies'] ? own.toSorted() : own) ===
      JSON.stringify(expect['varies'] ? theirs.toSorted() : theirs)
    )
  },
  windows: (answer, expect) =>
    sortedJson(withoutTexts(answer['answers'])) === sortedJson(withoutTexts(expect['answers'])) &&
    (answer['invalid'] === undefined) === (expect['invalid'] === undefined),
  applicationsets: isSameSet,
  services: isSameSet,
  projects: ({ invalid, ...answer }, { invalid: expected, ...expect }) =>
    sortedJson(answer) === sortedJson(expect) && (invalid === undefined) === (expected === undefined),
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isObject(item) ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))) : item,
  )
}

/** Texts of errors need only be texts. */
function withoutTexts(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item))
  if (!isObject(value)) return typeof value === 'string' && ['auto', 'manual', 'error'].includes(key) ? 'text' : value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutTexts(item, name)]))
}

/** The families. */
export const ARGO_FAMILIES: Readonly<Record<string, (input: RecordedCase) => unknown>> = {
  order,
  windows,
  projects,
  applicationsets: answerSet,
  services: answerSet,
}
