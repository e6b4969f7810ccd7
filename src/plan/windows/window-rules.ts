/**
 * Which windows apply to a cluster, and their rules there. The hub writes the rules into the cluster's document and
 * decides admissions by them, so that hub and agent follow the same rules.
 */
import { compact } from '../../core/compact.ts'
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

/** A user, group or role that may use an exception, or did. */
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

/** A cluster as windows read it. */
export interface WindowCluster {
  readonly name: string
  readonly labels: Labels
  readonly timeZone?: string | undefined
}

/** A bundle revision that starts now or later. */
export interface WindowEntry {
  /** `namespace/name`. */
  readonly bundle: string
  readonly generation: number
  /** The Release that contains it. */
  readonly release?: string | undefined
  /** Subjects that the Rollout's exceptions name. */
  readonly exceptions?: readonly ExceptionSubject[] | undefined
}

/** A window with parsed selectors and times; equal objects give the same result. */
export interface CompiledWindow {
  /** `namespace/name`, or the name of a ClusterWindow. */
  readonly name: string
  readonly requirements: readonly LabelRequirement[]
  readonly clusters: ReadonlySet<string> | undefined
  /** Globs of `namespace/name`; undefined: all bundles. */
  readonly bundles: readonly string[] | undefined
  readonly spans: readonly TimeSpan[]
  readonly object: WindowObject
}

const compiled = new WeakMap<WindowObject, CompiledWindow>()

/** Parses a window once per object. */
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

/** The windows of a namespace apply to the bundles of that namespace only. */
function globsIn(namespace: string | undefined, globs: readonly string[] | undefined): readonly string[] | undefined {
  if (namespace === undefined) return globs
  return (globs ?? ['*']).map((glob) => `${namespace}/${glob}`)
}

function spanOf({ schedule, duration, from, until }: WindowTimes): TimeSpan[] {
  if (schedule !== undefined && duration !== undefined) return [{ schedule, duration }]
  return from !== undefined && until !== undefined ? [{ from, until }] : []
}

/** The problem of a window; undefined when it is valid. */
export function windowObjectProblem(object: WindowObject): string | undefined {
  const window = compileWindow(object)
  if (window.spans.length < object.spec.times.length) {
    return `window ${window.name}: each entry of times needs either schedule and duration, or from and until`
  }
  return windowProblem(ruleOf(window, { name: '', labels: {} }, []))
}

/** Whether a window applies to a cluster. */
export function isForCluster({ requirements, clusters }: CompiledWindow, { name, labels }: WindowCluster): boolean {
  if (clusters && !clusters.has(name)) return false
  return requirements.every((requirement) => meetsRequirement(labels, requirement))
}

/** Whether a window applies to a bundle, `namespace/name`. */
export function isForBundle({ bundles }: CompiledWindow, bundle: string): boolean {
  return !bundles || bundles.some((glob) => matchesGlob(glob, bundle))
}

/** The rules for a cluster with these entries; windows that apply to none of the entries are left out. */
export function windowRulesFor(
  cluster: WindowCluster,
  windows: readonly CompiledWindow[],
  entries: readonly WindowEntry[],
): WindowRule[] {
  return windows.flatMap((window) => {
    if (!isForCluster(window, cluster)) return []
    const matching = entries.filter(({ bundle }) => isForBundle(window, bundle))
    return matching.length === 0 ? [] : [ruleOf(window, cluster, matching)]
  })
}

/** The rule of a window on a cluster for some entries. */
export function ruleOf(window: CompiledWindow, cluster: WindowCluster, entries: readonly WindowEntry[]): WindowRule {
  const { mode, zone, reason } = window.object.spec
  const except = entries.flatMap((entry) => passesOf(window, entry))
  return compact({
    name: window.name,
    kind: mode,
    zone: zone ?? cluster.timeZone ?? 'UTC',
    spans: window.spans,
    bundles: window.bundles,
    except: except.length > 0 ? except : undefined,
    reason,
  })
}

/** An exception is for a revision of a bundle: later revisions are held again. */
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

/** Evaluates spans for many clusters at one moment, each span once per time zone. */
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
