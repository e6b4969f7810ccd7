/**
 * Which windows concern a cluster, and what they say there: the hub writes it into the cluster's document and decides by
 * it whom to admit, so that both ends know the same rules.
 */
import { matchesGlob } from '../../core/text/glob.ts'
import { meetsRequirement, requirementsOf } from '../../core/text/label-selector.ts'
import type { LabelRequirement, Labels, LabelSelector } from '../../core/text/label-selector.ts'
import type { TimeSpan, WindowPass, WindowRule } from './window.ts'
import { spanAt, windowProblem } from './window.ts'

/** A Window or a ClusterWindow. */
export interface WindowObject {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec: {
    readonly mode: 'Open' | 'Freeze'
    readonly times: readonly WindowTimes[]
    readonly zone?: string | undefined
    readonly clusterSelector?: LabelSelector | undefined
    readonly clusters?: readonly string[] | undefined
    readonly bundles?: readonly string[] | undefined
    readonly exceptions?: readonly WindowException[] | undefined
    readonly reason: string
  }
}

interface WindowTimes {
  readonly schedule?: string | undefined
  readonly duration?: string | undefined
  readonly from?: string | undefined
  readonly until?: string | undefined
}

/** Somebody who may use an exception, or who did. */
export interface ExceptionSubject {
  readonly kind: 'User' | 'Group' | 'Role'
  readonly name: string
}

interface WindowException {
  readonly name: string
  readonly bundles?: readonly string[] | undefined
  readonly releases?: readonly string[] | undefined
  readonly subjects?: readonly ExceptionSubject[] | undefined
}

/** What windows look at in a cluster. */
export interface WindowCluster {
  readonly name: string
  readonly labels: Labels
  readonly timeZone?: string | undefined
}

/** A bundle revision that wants to begin, or may want to. */
export interface WindowEntry {
  /** `namespace/name`. */
  readonly bundle: string
  readonly generation: number
  /** The Release that brings it. */
  readonly release?: string | undefined
  /** As whom people let its Rollout pass. */
  readonly exceptions?: readonly ExceptionSubject[] | undefined
}

/** A window made ready: the same for the same object. */
export interface CompiledWindow {
  /** `namespace/name`, or the name of a ClusterWindow. */
  readonly name: string
  readonly requirements: readonly LabelRequirement[]
  readonly clusters: ReadonlySet<string> | undefined
  /** Globs of `namespace/name`; undefined: all. */
  readonly bundles: readonly string[] | undefined
  readonly spans: readonly TimeSpan[]
  readonly object: WindowObject
}

const compiled = new WeakMap<WindowObject, CompiledWindow>()

/** Makes a window ready to be asked. */
export function compileWindow(object: WindowObject): CompiledWindow {
  const known = compiled.get(object)
  if (known) return known
  const { metadata, spec } = object
  const { namespace, name } = metadata
  const window: CompiledWindow = {
    name: namespace === undefined ? name : `${namespace}/${name}`,
    requirements: requirementsOf(spec.clusterSelector ?? {}),
    clusters: spec.clusters && new Set(spec.clusters),
    bundles: globsIn(namespace, spec.bundles),
    spans: spec.times.flatMap(spanOf),
    object,
  }
  compiled.set(object, window)
  return window
}

/** A namespace's windows concern its own bundles and no others. */
function globsIn(namespace: string | undefined, globs: readonly string[] | undefined): readonly string[] | undefined {
  if (namespace === undefined) return globs
  return (globs ?? ['*']).map((glob) => `${namespace}/${glob}`)
}

function spanOf({ schedule, duration, from, until }: WindowTimes): TimeSpan[] {
  if (schedule !== undefined && duration !== undefined) return [{ schedule, duration }]
  return from !== undefined && until !== undefined ? [{ from, until }] : []
}

/** What is wrong with a window; undefined when nothing is. */
export function windowObjectProblem(object: WindowObject): string | undefined {
  const window = compileWindow(object)
  if (window.spans.length < object.spec.times.length) {
    return `window ${window.name}: each of its times wants either schedule and duration, or from and until`
  }
  return windowProblem(ruleOf(window, { name: '', labels: {} }, []))
}

/** Whether a window is for a cluster. */
export function isForCluster({ requirements, clusters }: CompiledWindow, { name, labels }: WindowCluster): boolean {
  if (clusters && !clusters.has(name)) return false
  return requirements.every((requirement) => meetsRequirement(labels, requirement))
}

/** Whether a window is for a bundle, `namespace/name`. */
export function isForBundle({ bundles }: CompiledWindow, bundle: string): boolean {
  return !bundles || bundles.some((glob) => matchesGlob(glob, bundle))
}

/** The rules of a cluster that holds, or is about to get, these entries; a window that concerns none of them is left out. */
export function windowRulesFor(
  cluster: WindowCluster,
  windows: readonly CompiledWindow[],
  entries: readonly WindowEntry[],
): WindowRule[] {
  return windows.flatMap((window) => {
    if (!isForCluster(window, cluster)) return []
    const mine = entries.filter(({ bundle }) => isForBundle(window, bundle))
    return mine.length === 0 ? [] : [ruleOf(window, cluster, mine)]
  })
}

/** What a window says at a cluster about some entries. */
export function ruleOf(window: CompiledWindow, cluster: WindowCluster, entries: readonly WindowEntry[]): WindowRule {
  const { mode, zone, reason } = window.object.spec
  const except = entries.flatMap((entry) => passesOf(window, entry))
  return {
    name: window.name,
    kind: mode,
    zone: zone ?? cluster.timeZone ?? 'UTC',
    spans: window.spans,
    ...(window.bundles ? { bundles: window.bundles } : {}),
    ...(except.length > 0 ? { except } : {}),
    reason,
  }
}

/** The revision passes, not the bundle: what comes after it is held again. */
function passesOf({ object }: CompiledWindow, entry: WindowEntry): WindowPass[] {
  const { namespace } = object.metadata
  const { bundle, generation } = entry
  const passes = (object.spec.exceptions ?? []).some((exception) => {
    const { releases, subjects } = exception
    const bundles = exception.bundles && globsIn(namespace, exception.bundles)
    if (bundles && !bundles.some((glob) => matchesGlob(glob, bundle))) return false
    if (releases && !releases.some((glob) => entry.release !== undefined && matchesGlob(glob, entry.release))) {
      return false
    }
    if (!subjects) return bundles !== undefined || releases !== undefined
    return (entry.exceptions ?? []).some((used) =>
      subjects.some(({ kind, name }) => used.kind === kind && used.name === name),
    )
  })
  return passes ? [{ bundle, generation }] : []
}

/** Looks at spans for many clusters at one moment, each span once per zone. */
export function rememberSpans(): typeof spanAt {
  const known = new WeakMap<TimeSpan, Map<string, ReturnType<typeof spanAt>>>()
  return (span, zone, nowMs) => {
    const zones = known.get(span) ?? new Map<string, ReturnType<typeof spanAt>>()
    known.set(span, zones)
    const state = zones.get(zone) ?? spanAt(span, zone, nowMs)
    zones.set(zone, state)
    return state
  }
}
