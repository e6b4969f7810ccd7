/** The checks of rendered objects, as the hub does them for its conditions and the CLI for files. */
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Finding } from './finding.ts'
import { lintApi } from './lint-apis.ts'
import type { LintCluster } from './lint-apis.ts'
import { lintContentFields } from './lint-fields.ts'
import { lintImages } from './lint-images.ts'

/** What is wrong with an object for the clusters that get it. */
export function lintObject(object: UnknownObject, clusters: readonly LintCluster[]): Finding[] {
  return [...lintApi(object, clusters), ...lintContentFields(object, clusters), ...lintImages(object)]
}
