/** The content of a Bundle from a source of an Application: location, style and values. */
import { compact } from '../../../core/compact.ts'
import { nameFromUrl } from '../../../core/text/name-from-url.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { ArgoSource } from '../application.ts'
import { hasPlaceholders, restorePlaceholders } from '../generators/cluster-placeholders.ts'
import type { Application, ApplicationCompileContext } from './compile-application.ts'
import { ignoredFiles } from '../files/ignored-files.ts'
import { valuesOf } from './helm-values.ts'
import { missingChartDependencies, warnNestedApplications, rejectJsonnet } from '../files/check-directory.ts'
import type { RepositoryFiles } from '../files/repositories.ts'
import { locationOf } from './source-location.ts'

/** The Application that the content is of. */
export interface ContentContext {
  readonly app: Application
  /** The name of the Bundle. */
  readonly bundle: string
  readonly scene: ApplicationCompileContext
  readonly given: readonly ArgoSource[]
}

/** The content of a Bundle from one source; undefined when the source has no content. */
export function bundleContent(source: ArgoSource, { app, bundle, scene, given }: ContentContext): object | undefined {
  const main = addSource(source, scene)
  if (main === undefined) return undefined
  const path = cleanPath(source.chart ? '' : (source.path ?? ''))
  const style = source.chart ? 'Helm' : styleOf(source, path, scene)
  const include: { source: string; at: string }[] = []
  const valuesFiles = (source.helm?.valueFiles ?? []).flatMap((file) => {
    const found = valuesFile(file, { path, source, given, scene })
    if (found === undefined) return []
    if (found.include && !include.some(({ at }) => at === found.include!.at)) include.push(found.include)
    return [found.file]
  })
  const helm = style === 'Helm' ? helmOf(source, valuesFiles, { app, bundle, scene }) : {}
  const repository = scene.repositoryOf(source.repoURL ?? '', source.targetRevision)
  const paths = repository?.paths
  const ignore = style === 'Raw' ? ignoredFiles(source.directory ?? {}, { path, paths }, scene) : []
  if (repository && !source.chart) {
    warnNestedApplications(repository, path, scene)
    if (style === 'Raw') rejectJsonnet(filesBelow(repository, path, ignore), scene)
    if (style === 'Helm') {
      for (const chart of missingChartDependencies(repository, path, scene)) {
        const name = addSource(chart, scene)
        if (name !== undefined) include.push({ source: name, at: `charts/${chart.chart}` })
      }
    }
  }
  return compact({
    source: compact({
      name: main,
      path: path === '' ? undefined : path,
      ignore: ignore.length === 0 ? undefined : ignore,
      include: include.length === 0 ? undefined : include,
    }),
    style,
    ...compact({ helm: Object.keys(helm).length === 0 ? undefined : helm }),
  })
}

/** The files of a directory that Argo CD would read. */
function filesBelow({ paths }: RepositoryFiles, path: string, ignore: readonly string[]): string[] {
  const below = path === '' ? '' : `${path}/`
  const isIgnored = (one: string): boolean => ignore.some((name) => one === name || one.startsWith(`${name}/`))
  return paths.filter((one) => one.startsWith(below) && !isIgnored(one.slice(below.length)))
}

function addSource(source: ArgoSource, scene: ApplicationCompileContext): string | undefined {
  const location = locationOf(source)
  if ('problem' in location) {
    scene.wrong(location.problem)
    return undefined
  }
  if (location.note !== undefined) scene.note(location.note)
  return scene.objects.add(Source, nameFromUrl(source.chart ?? source.repoURL ?? ''), { spec: location.spec })
}

/** The style that Argo CD would detect for the directory. */
function styleOf(
  source: ArgoSource,
  path: string,
  scene: ApplicationCompileContext,
): 'Helm' | 'Kustomize' | 'Raw' | undefined {
  if (source.helm) return 'Helm'
  if (source.kustomize) return 'Kustomize'
  if (source.directory) return 'Raw'
  const paths = scene.repositoryOf(source.repoURL ?? '', source.targetRevision)?.paths
  if (!paths) {
    scene.note(
      `whether ${path || 'the repository'} is a chart, a kustomization or manifests is not known here; of manifests Argo CD takes only those of the directory itself, a Bundle also those below (--root DIR decides it)`,
    )
    return undefined
  }
  const at = path === '' ? '' : `${path}/`
  const has = (name: string): boolean => paths.includes(`${at}${name}`)
  if (has('Chart.yaml')) return 'Helm'
  return ['kustomization.yaml', 'kustomization.yml', 'Kustomization'].some(has) ? 'Kustomize' : 'Raw'
}

function helmOf(
  source: ArgoSource,
  valuesFiles: readonly string[],
  { app, bundle, scene }: Omit<ContentContext, 'given'>,
): object {
  const { values, isTemplated } = valuesOf(source.helm ?? {}, (message) => scene.wrong(message))
  const isOpen = hasPlaceholders(app.ownName)
  if (!source.helm?.releaseName && isOpen) {
    scene.note(
      `in Argo CD the release is called ${restorePlaceholders(app.ownName)}, here ${app.name} on every cluster: objects named after the release are new ones; say helm.releaseName if that matters`,
    )
  }
  // Templates see the name of the Application, whatever the name of the Bundle is.
  const releaseName = source.helm?.releaseName || (isOpen ? app.name : app.ownName)
  return compact({
    releaseName: releaseName === bundle ? undefined : releaseName,
    values: Object.keys(values).length === 0 ? undefined : values,
    valuesFiles: valuesFiles.length === 0 ? undefined : valuesFiles,
    valuesTemplating: isTemplated ? 'Templates' : undefined,
  })
}

interface ValuesFileScene {
  readonly path: string
  readonly source: ArgoSource
  readonly given: readonly ArgoSource[]
  readonly scene: ApplicationCompileContext
}

/** The path of a values file relative to the Bundle, and the Source to include for it. */
function valuesFile(
  file: string,
  { path, source: own, given, scene }: ValuesFileScene,
): { readonly file: string; readonly include?: { source: string; at: string } } | undefined {
  if (/^[a-z]+:\/\//i.test(file) || /[*?[{]/.test(file)) {
    scene.wrong(
      `helm.valueFiles: ${file} is ${file.includes('://') ? 'an address' : 'a pattern'}; name files of the repository`,
    )
    return undefined
  }
  const [, ref, inRef] = /^\$([^/]+)\/(.+)$/.exec(file) ?? []
  const isOptional = own.helm?.ignoreMissingValueFiles === true
  if (ref === undefined) {
    if (isOptional && isLeftOut(file.startsWith('/') ? file : `${path}/${file}`, own, { file, scene })) return undefined
    const up = path === '' ? '' : '../'.repeat(path.split('/').length)
    return { file: file.startsWith('/') ? `${up}${file.replace(/^\/+/, '')}` : file }
  }
  const source = given.find((one) => one.ref === ref)
  const name = source && addSource(source, scene)
  if (name === undefined) {
    if (!source) scene.wrong(`helm.valueFiles: ${file} names ref ${ref}, and no source has it`)
    return undefined
  }
  if (isOptional && isLeftOut(inRef!, source!, { file, scene })) return undefined
  const at = `.refs/${ref}`
  return { file: `${at}/${cleanPath(inRef!)}`, include: { source: name, at } }
}

/** Whether a values file is missing and may be missing. */
function isLeftOut(
  path: string,
  { repoURL = '', targetRevision }: ArgoSource,
  { file, scene }: { readonly file: string; readonly scene: ApplicationCompileContext },
): boolean {
  const paths = scene.repositoryOf(repoURL, targetRevision)?.paths
  if (!paths) {
    scene.note(
      `helm.ignoreMissingValueFiles: ${file} must be there, or it is an error here; --root DIR leaves out what is missing now`,
    )
    return false
  }
  if (paths.includes(cleanPath(path))) return false
  // A hub compiles each commit again.
  if (!scene.delivery)
    scene.note(`helm.valueFiles: ${file} is not there now and left out; add it to helm.valuesFiles when it is`)
  return true
}

function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0) parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
