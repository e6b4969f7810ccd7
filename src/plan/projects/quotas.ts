/**
 * Quotas of a Project. The oldest objects use a quota first, so that a new object never displaces an old one, and a
 * lower quota freezes the newest objects.
 */
import { compareText } from '../../core/text/compare-text.ts'
import type { ProjectFacts } from './limits.ts'

/** A Bundle or Source of the Project. */
export interface QuotaItem {
  /** `namespace/name`. */
  readonly key: string
  /** RFC 3339. */
  readonly createdAt: string
  /** Size of the artifact of a Source. */
  readonly bytes?: number
}

const MINUTE_MS = 60_000

/** Why a Bundle is over the quota of its Project; `all` are the Bundles of the Project. */
export function bundleQuotaLines(project: ProjectFacts, all: readonly QuotaItem[], key: string): readonly string[] {
  return countLines(project, 'bundles', all, key)
}

/** Why a Source is over the quotas of its Project; `all` are the Sources of the Project. */
export function sourceQuotaLines(project: ProjectFacts, all: readonly QuotaItem[], key: string): readonly string[] {
  const counted = countLines(project, 'sources', all, key)
  const limit = project.spec.quotas?.bytes
  if (counted.length > 0 || limit === undefined) return counted
  const bytes = inOrder(all)
    .slice(0, rankOf(all, key) + 1)
    .reduce((sum, item) => sum + (item.bytes ?? 0), 0)
  if (bytes <= limit) return []
  return [
    `Project ${project.metadata.name}: spec.quotas.bytes is ${limit}, and the artifacts up to this Source have ${bytes} bytes`,
  ]
}

function countLines(
  { metadata, spec }: ProjectFacts,
  what: 'bundles' | 'sources',
  all: readonly QuotaItem[],
  key: string,
): readonly string[] {
  const limit = spec.quotas?.[what]
  if (limit === undefined || all.length <= limit || rankOf(all, key) < limit) return []
  const noun = what === 'bundles' ? 'Bundles' : 'Sources'
  return [`Project ${metadata.name}: spec.quotas.${what} is ${limit}, and older ${noun} use it up`]
}

function rankOf(all: readonly QuotaItem[], key: string): number {
  return inOrder(all).findIndex((item) => item.key === key)
}

function inOrder(all: readonly QuotaItem[]): readonly QuotaItem[] {
  return all.toSorted((a, b) => compareText(a.createdAt, b.createdAt) || compareText(a.key, b.key))
}

/** Renderings of Projects within the last minute. */
export interface RenderQuota {
  /** Takes one rendering; returns the time to wait, in milliseconds, when the quota is used up. */
  take(project: ProjectFacts, now: number): number
}

export function createRenderQuota(): RenderQuota {
  const times = new Map<string, number[]>()
  return {
    take({ metadata, spec }, now) {
      const limit = spec.quotas?.rendersPerMinute
      if (limit === undefined) {
        times.delete(metadata.name)
        return 0
      }
      const recent = (times.get(metadata.name) ?? []).filter((at) => at > now - MINUTE_MS)
      times.set(metadata.name, recent)
      if (recent.length >= limit) return recent[recent.length - limit]! + MINUTE_MS - now
      recent.push(now)
      return 0
    },
  }
}
