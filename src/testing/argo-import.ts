/** Applications and sets of Argo CD as texts, and what importing them makes, for tests. */
import { utf8 } from '../core/bytes.ts'
import type { JsonObject } from '../core/json.ts'
import { importApplications } from '../dialects/argo/import-applications.ts'
import type { ApplicationsRequest } from '../dialects/argo/import-applications.ts'
import type { Bundle } from '../kinds/native/bundle.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import { readYaml } from '../yaml/read/read-yaml.ts'

/** Options of an import, the clone as paths or as files. */
export type ImportOptions = Partial<Omit<ApplicationsRequest, 'objects'>> & {
  readonly paths?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
}

/** Imports a text. */
export function imported(text: string, { paths, files, ...options }: ImportOptions = {}) {
  const objects = readYaml(text, { file: 'test' }).map(({ value }) => value as UnknownObject)
  const tree = files ?? (paths && Object.fromEntries(paths.map((path) => [path, ''])))
  const clones = tree ? [{ files: new Map(Object.entries(tree).map(([path, one]) => [path, utf8(one)])) }] : []
  const made = importApplications({ objects, namespace: 'default', clusters: new Map(), clones, ...options })
  const specs = (kind: string) =>
    Object.fromEntries(
      made.objects.filter((one) => one.kind === kind).map((one) => [one.metadata.name, one['spec'] as JsonObject]),
    )
  return {
    ...made,
    sources: specs('Source'),
    placements: specs('Placement'),
    plans: specs('RolloutPlan'),
    bundles: specs('Bundle') as Record<string, Bundle['spec']>,
  }
}

/** An Application with this spec. */
export const application = (spec: string, metadata = ''): string => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd${metadata}}
spec: {project: default, ${spec}}
`
/** Manifests of a repository. */
export const GIT = "repoURL: 'https://git.example.com/apps.git', path: ./web/, directory: {recurse: true}"
/** A destination. */
export const HERE = 'destination: {name: store-1, namespace: shop}'

/** An ApplicationSet. */
export const set = (generators: string, template: string, more = ''): string => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shop, namespace: argocd}
spec:
  ${more}
  generators: ${generators}
  template: ${template}
`
