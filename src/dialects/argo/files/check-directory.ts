/** Findings about the files of an Application's directory: nested Applications, jsonnet, charts to download. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { ArgoSource, Diagnostics } from '../application.ts'
import { readText } from './read-text.ts'
import type { RepositoryFiles } from './repositories.ts'

const OF_ARGO = /^apiVersion:\s*["']?argoproj\.io\/[^]*?^kind:\s*["']?(Application|ApplicationSet|AppProject)\b/m

/** Applications among the manifests need Argo CD, which may not be installed. */
export function warnNestedApplications(repository: RepositoryFiles, path: string, { note }: Diagnostics): void {
  const below = path === '' ? '' : `${path}/`
  const found = repository.paths.find(
    (one) => one.startsWith(below) && /\.(ya?ml|json)$/.test(one) && OF_ARGO.test(repository.text(one) ?? ''),
  )
  if (found === undefined) return
  note(
    `${found} is for Argo CD itself, and the Bundle would bring it into the cluster: import what stands there, too, and leave this Bundle out unless the cluster has Argo CD`,
  )
}

/** Jsonnet in a directory of manifests: Argo CD evaluates it by default. */
export function rejectJsonnet(files: readonly string[], { wrong }: Diagnostics): void {
  const found = files.find((one) => one.endsWith('.jsonnet'))
  if (found !== undefined) wrong(`${found}: jsonnet is not evaluated; keep its output in git`)
}

/** Dependencies of a chart that are not in the directory: Argo CD downloads them while it renders. */
export function missingChartDependencies(
  repository: RepositoryFiles,
  path: string,
  { wrong }: Diagnostics,
): ArgoSource[] {
  const below = path === '' ? '' : `${path}/`
  const needed = ['Chart.yaml', 'requirements.yaml'].flatMap((file) => {
    const value = readText(repository.text(`${below}${file}`) ?? '', `${below}${file}`, wrong)
    const dependencies = isObject(value) ? value['dependencies'] : undefined
    return Array.isArray(dependencies) ? dependencies.filter(isObject) : []
  })
  return needed.flatMap(({ name, version, repository: address }): ArgoSource[] => {
    if (typeof name !== 'string' || typeof address !== 'string') return []
    const at = `${below}charts/${name}`
    if (repository.paths.some((one) => one.startsWith(`${at}/`) || (one.startsWith(at) && one.endsWith('.tgz'))))
      return []
    if (/^(https?|oci):\/\//.test(address)) {
      const repoURL = address.replace(/^oci:\/\//, '')
      return [compact({ repoURL, chart: name, targetRevision: typeof version === 'string' ? version : undefined })]
    }
    if (!address.startsWith('file://') && address !== '')
      wrong(`${below}Chart.yaml: ${address} of ${name} is no address that is known here`)
    return []
  })
}
