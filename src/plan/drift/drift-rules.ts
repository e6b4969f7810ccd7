/** Decisions about drift on a cluster: from Overrides into its document, and then to the options of an object. */
import { compact } from '../../core/compact.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Override } from '../../kinds/native/override.ts'
import { ignoreRulesFor } from '../objects/ignored-fields.ts'
import type { ObjectId } from '../objects/object-id.ts'
import type { ObjectOptions } from '../objects/object-options.ts'

/** A decision about an object. */
export interface DriftDecisionFor {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  /** Paths of fields that are left to other managers; absent: drift of the object is corrected. */
  readonly ignore?: readonly string[]
}

/** Decisions about a bundle, as the document of a cluster has them. */
export interface DriftRule {
  readonly bundle: string
  /** After this time the rule no longer counts. */
  readonly until?: string
  readonly objects: readonly DriftDecisionFor[]
}

/** Whether an Override decides about drift, and is therefore no layer of the content. */
export function isDriftDecision({ spec }: Pick<Override, 'spec'>): boolean {
  return spec.drift !== undefined
}

/** The rules for the bundles of a cluster's document, in the order of the names of the Overrides. */
export function driftRulesFor(
  cluster: string,
  bundles: ReadonlySet<string>,
  { overrides, nowMs }: { readonly overrides: readonly Override[]; readonly nowMs: number },
): readonly DriftRule[] {
  return overrides
    .filter(({ metadata, spec }) => spec.clusters?.includes(cluster) && !metadata.deletionTimestamp)
    .filter(({ spec: { expiresAt } }) => isInForce({ until: expiresAt }, nowMs))
    .map((override) => ({ override, bundle: `${override.metadata.namespace ?? ''}/${override.spec.bundle}` }))
    .filter(({ bundle }) => bundles.has(bundle))
    .toSorted(
      (a, b) => compareText(a.bundle, b.bundle) || compareText(a.override.metadata.name, b.override.metadata.name),
    )
    .map(({ override: { spec }, bundle }) =>
      compact({
        bundle,
        until: spec.expiresAt,
        objects: (spec.drift ?? []).map(({ kind, namespace, name, fields }) =>
          compact({ kind, namespace, name, ignore: fields }),
        ),
      }),
    )
}

/**
 * Whether a rule counts now. A time that cannot be read is over. An agent that does not know the time of the hub keeps
 * to the rules of its document.
 */
export function isInForce({ until }: Pick<DriftRule, 'until'>, nowMs: number | undefined): boolean {
  return until === undefined || nowMs === undefined || (parseTime(until) ?? Number.NEGATIVE_INFINITY) > nowMs
}

/** The part of some rules that concerns an object; equal texts are equal decisions. */
export function decisionsFor(rules: readonly DriftRule[], id: ObjectId): readonly DriftDecisionFor[] {
  return rules.flatMap(({ objects }) =>
    objects.filter(
      ({ kind, namespace, name }) => kind === id.kind && name === id.name && (namespace ?? '') === (id.namespace ?? ''),
    ),
  )
}

/** The options of an object with decisions about its drift: accepted fields are ignored, other drift is corrected. */
export function withDriftDecisions(
  options: ObjectOptions,
  decisions: readonly DriftDecisionFor[],
  id: ObjectId,
): ObjectOptions {
  if (decisions.length === 0) return options
  const accepted = decisions.flatMap(({ ignore }) => ignore ?? [])
  const read = accepted.length === 0 ? undefined : ignoreRulesFor([], id, accepted.join(' '))
  return {
    ...options,
    // A path that this version cannot read ignores nothing: the drift stays visible.
    ignore: read?.ok ? [...options.ignore, ...read.rules] : options.ignore,
    drift: decisions.some(({ ignore }) => ignore === undefined) ? 'Correct' : options.drift,
  }
}
