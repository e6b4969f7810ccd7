/** The generated part of docs/dialects/flux.md. */
import { withFieldTables } from '../docs-tables.ts'
import { GIT_REPOSITORY, KUSTOMIZATION } from './fields.ts'
import { HELM_RELEASE } from './release/release-fields.ts'
import { BUCKET, HELM_CHART, HELM_REPOSITORY, OCI_REPOSITORY } from './source-fields.ts'

/** Renews the tables of the page; throws when the page has no place for them. */
export function withFluxTables(page: string): string {
  return withFieldTables(page, {
    'GitRepository.spec': GIT_REPOSITORY,
    'HelmRepository.spec': HELM_REPOSITORY,
    'HelmChart.spec': HELM_CHART,
    'OCIRepository.spec': OCI_REPOSITORY,
    'Bucket.spec': BUCKET,
    'Kustomization.spec': KUSTOMIZATION,
    'HelmRelease.spec': HELM_RELEASE,
  })
}
