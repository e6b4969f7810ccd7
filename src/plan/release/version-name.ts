// Tested by src/cli/commands/observe/status.test.ts and console/src/bundles/bundle-versions.test.ts
/** The name of the content that a cluster runs. */
import { jsonEqual } from '../../core/json.ts'
import type { Release } from '../../kinds/native/release.ts'

/** The Release of a generation; for a rollback, the earlier Release whose content it has on all clusters. */
export function versionName(generation: number, releases: readonly Release[], bundle: string): string {
  const own = releases.flatMap((release) => {
    const entry = release.spec.bundles.find(({ name }) => name === bundle)
    return entry ? [{ release, entry }] : []
  })
  const found = own.find(({ entry }) => entry.generation === generation)
  if (!found) return `generation ${generation}`
  if (!found.release.spec.rollBack) return found.release.metadata.name
  const { set, variants } = found.entry
  const origin = own
    .filter(({ release }) => !release.spec.rollBack)
    .toSorted((a, b) => a.entry.generation - b.entry.generation)
    .find(({ entry }) => entry.set === set && jsonEqual(entry.variants ?? null, variants ?? null))
  return origin ? origin.release.metadata.name : `${found.release.metadata.name} (earlier content)`
}
