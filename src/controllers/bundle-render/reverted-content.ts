/** Content that was taken back: which Releases say so, and how a Bundle shows it. */
import type { Draft } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { BadRevision } from '../../plan/release/bad-revisions.ts'
import { existingOf } from '../../plan/release/decide-release.ts'
import type { BundleRenderPorts } from './ports.ts'

/** The mark of a bundle on a Release. */
export function badRevisionsIn(release: Release, bundle: string): BadRevision[] {
  const mark = release.status?.bad?.find((one) => one.bundle === bundle)
  return mark ? [{ release: existingOf(release, bundle), clusters: mark.clusters }] : []
}

/** Whether a Release is still marked bad for a bundle. */
export function isMarkedBad(name: string, bundle: Bundle, ports: Pick<BundleRenderPorts, 'releasesOf'>): boolean {
  const release = ports.releasesOf(keyOf(bundle)).find(({ metadata }) => metadata.name === name)
  return release !== undefined && badRevisionsIn(release, bundle.metadata.name).length > 0
}

/** Says that what the Bundle asks for was taken back, by whom, and how to have it after all. */
export function showReverted({ conditions, next }: Draft<Bundle>, ports: Pick<BundleRenderPorts, 'releasesOf'>): void {
  const name = next.status?.reverted?.[0]
  const release = ports.releasesOf(keyOf(next)).find(({ metadata }) => metadata.name === name)
  const mark = release?.status?.bad?.find((one) => one.bundle === next.metadata.name)
  if (name === undefined || !mark) {
    conditions.remove('Reverted')
    return
  }
  const where = mark.clusters ? ` on ${mark.clusters.slice(0, 3).join(', ')}` : ''
  const why = mark.reason === undefined ? '.' : `: ${mark.reason.replace(/\.?$/, '.')}`
  const message = `${mark.by} took release ${name} back${where}${why} Its content stays away until it changes, or: flotilla release lift ${name} -n ${next.metadata.namespace}`
  conditions.set('Reverted', 'True', 'MarkedBad', message.slice(0, 4096))
}
