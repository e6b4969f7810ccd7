/**
 * What a Project allows: a Source, a Bundle with its rendered objects, a Placement. Each answer is the lines of the
 * Project that refuse, for example `Project team-a: spec.kinds does not list apps/Deployment`; an empty answer allows.
 */
import { compileRegex } from '../../cel/library/regex.ts'
import { CelFailure } from '../../cel/values.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { TICKET_ANNOTATION } from '../../kinds/fields/project-names.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { Project } from '../../kinds/native/project.ts'
import type { Source } from '../../kinds/native/source.ts'
import type { Executor } from '../apply/local-limits.ts'
import type { ObjectId } from '../objects/object-id.ts'
import { allLimitsOf, decideExecutor, objectRefusal } from './limits.ts'
import type { ProjectFacts } from './limits.ts'
import { allowsAll, INLINE, matchesAddress } from './patterns.ts'
import type { Refusal } from './project-of.ts'

/** The most lines of one answer about objects; further objects are counted. */
const MAX_LINES = 5

/** The address that a Source fetches; files in the Source itself are content that is written inline. */
function addressOf({ git, helm, oci, s3, inline }: Source['spec']): string {
  return git?.url ?? helm?.url ?? oci?.url ?? s3?.url ?? (inline ? INLINE : '')
}

/** Why a Source may not be fetched. */
export function sourceRefusals(project: ProjectFacts, spec: Source['spec']): readonly string[] {
  const address = addressOf(spec)
  if ((project.spec.sources ?? []).some((pattern) => matchesAddress(pattern, address))) return []
  return [say(project, `spec.sources does not list ${address || 'a Source without an address'}`)]
}

/** The parts of a Bundle that a Project decides about before the Bundle is rendered. */
export type BundleFacts = Pick<Bundle, 'metadata' | 'spec'>

/** Why a Bundle may not be rendered; its objects are a second question. */
export function bundleRefusals(project: ProjectFacts, bundle: BundleFacts): readonly string[] {
  return [
    ...inlineRefusals(project, bundle),
    ...bundleExecutors(bundle).flatMap((asked) => executorRefusals(project, asked)),
    ...planRefusals(project, bundle.spec.rollout?.plan),
    ...labelRefusals(project, bundle),
    ...ticketRefusals(project.spec.ticket, project, bundle),
  ]
}

function inlineRefusals(project: ProjectFacts, { spec }: BundleFacts): readonly string[] {
  if (spec.source || allowsAll(project.spec.sources) || project.spec.sources?.includes(INLINE)) return []
  const field = spec.manifestsFrom ? 'manifestsFrom' : 'manifests'
  return [say(project, `spec.sources does not list inline, and the Bundle has spec.${field}`)]
}

/** The executors of a Bundle and of its variants; undefined stands for none. */
function bundleExecutors({ spec }: BundleFacts): readonly (Executor | undefined)[] {
  const ofVariants = (spec.variants ?? []).flatMap(({ options }) => options?.executor ?? [])
  return [spec.executor, ...ofVariants]
}

/** Why a Bundle may not be applied as an executor, or with the agent's own rights where it names none. */
function executorRefusals(project: ProjectFacts, asked: Executor | undefined): readonly string[] {
  const { refusal } = decideExecutor(allLimitsOf(project), asked)
  return refusal === undefined ? [] : [refusal]
}

/** Why a Bundle may not use a RolloutPlan, or none. */
function planRefusals(project: ProjectFacts, plan: string | undefined): readonly string[] {
  const { plans = [] } = project.spec
  if (allowsAll(plans) || (plan === undefined ? plans.length === 0 : plans.includes(plan))) return []
  return [
    plan === undefined
      ? say(project, `spec.plans lists ${plans.join(', ')}, and the Bundle names no spec.rollout.plan`)
      : say(project, `spec.plans does not list ${plan}`),
  ]
}

function labelRefusals(project: ProjectFacts, { metadata }: BundleFacts): readonly string[] {
  return (project.spec.requiredLabels ?? [])
    .filter((key) => !Object.hasOwn(metadata.labels ?? {}, key))
    .map((key) => say(project, `spec.requiredLabels lists ${key}, and the Bundle has no label ${key}`))
}

function ticketRefusals(
  ticket: Project['spec']['ticket'],
  project: ProjectFacts,
  { metadata }: BundleFacts,
): readonly string[] {
  if (!ticket) return []
  const given = metadata.annotations?.[TICKET_ANNOTATION]
  if (given === undefined) {
    return [say(project, `spec.ticket requires the annotation ${TICKET_ANNOTATION}, and the Bundle has none`)]
  }
  try {
    if (compileRegex(`^(?:${ticket.pattern})$`).matcher(given).find()) return []
    return [say(project, `spec.ticket.pattern ${ticket.pattern} does not match the annotation ${TICKET_ANNOTATION}`)]
  } catch (caught) {
    if (!(caught instanceof CelFailure)) throw caught
    return [say(project, `spec.ticket.pattern ${ticket.pattern} is not a regular expression: ${caught.message}`)]
  }
}

/** Why rendered objects may not be delivered: each line once, at most five. */
export function contentRefusals(project: ProjectFacts, objects: Iterable<ObjectId>): readonly string[] {
  const limits = allLimitsOf(project)
  if (!limits.kinds && !limits.targetNamespaces) return []
  const lines = new Set<string>()
  for (const id of objects) {
    const line = objectRefusal(limits, id)
    if (line !== undefined) lines.add(line)
  }
  const all = [...lines]
  const more = all.length - MAX_LINES
  return more > 0 ? [...all.slice(0, MAX_LINES), say(project, `and ${more} more lines`)] : all
}

/** Why a Placement may not select from the ClusterSets that it names. */
export function placementRefusals(project: ProjectFacts, clusterSets: readonly string[] = []): readonly string[] {
  const allowed = allowedSets(project)
  if (!allowed) return []
  if (allowed.length === 0) return [say(project, 'spec.clusterSets lists no ClusterSet')]
  return clusterSets
    .filter((set) => !allowed.includes(set))
    .map((set) => say(project, `spec.clusterSets does not list ${set}`))
}

/** A Source, Bundle or Placement, as files have it. */
export type Definition = Source | Bundle | Placement

/** Why a Project refuses a Source, Bundle or Placement. Rendered objects and quotas are a second question. */
export function definitionRefusals(project: ProjectFacts, object: Definition): readonly string[] {
  if (object.kind === 'Source') return sourceRefusals(project, (object as Source).spec)
  if (object.kind === 'Placement') return placementRefusals(project, (object as Placement).spec.clusterSets)
  return bundleRefusals(project, object as Bundle)
}

/** The ClusterSets from which Placements may select; undefined allows all clusters. */
export function allowedSets({ spec }: ProjectFacts): readonly string[] | undefined {
  return allowsAll(spec.clusterSets) ? undefined : (spec.clusterSets ?? [])
}

/** A refusal by lines of the Project; undefined when there are none. */
export function refusedBy(lines: readonly string[]): Refusal | undefined {
  return lines.length === 0 ? undefined : { reason: 'ProjectRefuses', lines }
}

/** The message of a refusal in a condition. */
export function refusalMessage({ reason, lines }: Refusal): string {
  return reason === 'ProjectRefuses' ? lines.map((line) => `${line}.`).join(' ') : lines.join(' ')
}

function say({ metadata }: ProjectFacts, line: string): string {
  return `Project ${metadata.name}: ${line}`
}
