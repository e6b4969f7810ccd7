/** The content of a Bundle from a source of an Application: location, style and values. */
import { compact } from '../../../core/compact.ts'
import { nameFromUrl } from '../../../core/text/name-from-url.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { ArgoSource } from '../application.ts'
import { ARGO_BUILDER } from '../build/argo-builder.ts'
import type { ArgoBuilderOptions } from '../build/argo-builder.ts'
import type { DirectoryOptions } from '../build/directory-manifests.ts'
import type { KustomizeOptions } from '../build/kustomize-edits.ts'
import { hasPlaceholders, restorePlaceholders } from '../generators/cluster-placeholders.ts'
import type { Application, ApplicationCompileContext } from './compile-application.ts'
import { foldersOf, ignoredFiles, MAX_IGNORED } from '../files/ignored-files.ts'
import { environmentOf } from './build-environment.ts'
import type { Environment } from './build-environment.ts'
import { valuesOf } from './helm-values.ts'
import { fileParametersOf, valueFilesOf } from './value-files.ts'
import type { ValueFilesScene } from './value-files.ts'
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
  const environment = environmentOf(source, { app, scene })
  const scoped = { path, source, given, scene, environment, addSource: (one: ArgoSource) => addSource(one, scene) }
  const found = style === 'Helm' ? valueFilesOf(scoped) : { files: [], include: [] }
  const include = [...found.include]
  const helm = style === 'Helm' ? helmOf(scoped, found.files, { app, bundle }) : {}
  const repository = scene.repositoryOf(source.repoURL ?? '', source.targetRevision)
  const builder = builderOf(style, { source, path, scene, environment })
  const ignore = style === 'Raw' && !builder ? ignoredFiles(source.directory, { path, repository }, scene) : []
  if (repository && !source.chart) {
    if (!scene.takesApplications) warnNestedApplications(repository, path, scene)
    if (style === 'Raw' && !builder) rejectJsonnet(filesBelow(repository, path, ignore), scene)
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
    ...(builder ? { builder } : { style }),
    ...compact({ helm: Object.keys(helm).length === 0 ? undefined : helm }),
  })
}

interface BuilderScene {
  readonly source: ArgoSource
  readonly path: string
  readonly scene: ApplicationCompileContext
  readonly environment: Environment
}

/** The builder of a source that the fields of a Bundle cannot describe. */
function builderOf(
  style: ReturnType<typeof styleOf>,
  { source, path, scene, environment }: BuilderScene,
): { readonly name: string; readonly options: ArgoBuilderOptions } | undefined {
  const { kustomize, directory } = source
  if (style === 'Kustomize') {
    const options = kustomizeOptions(kustomize ?? {}, environment)
    return Object.keys(options).length === 0 ? undefined : { name: ARGO_BUILDER, options: { kustomize: options } }
  }
  if (style !== 'Raw' || !directory || !needsBuilder(directory, source, { path, scene })) return undefined
  const { recurse, include, exclude, disableExtensionFilter } = directory
  return { name: ARGO_BUILDER, options: { directory: compact({ recurse, include, exclude, disableExtensionFilter }) } }
}

const UNBUILT = new Set(['version', 'kubeVersion', 'apiVersions', 'commonAnnotationsEnvsubst'])
const FLAGS = new Set([
  'ignoreMissingComponents',
  'forceCommonLabels',
  'forceCommonAnnotations',
  'labelWithoutSelector',
  'labelIncludeTemplates',
])

/** The overrides of a kustomization; empty when nothing is overridden. */
function kustomizeOptions(own: NonNullable<ArgoSource['kustomize']>, environment: Environment): KustomizeOptions {
  const said = Object.entries(own).filter(([name, value]) => {
    if (UNBUILT.has(name) || value === false || value === '') return false
    return typeof value !== 'object' || value === null || Object.keys(value).length > 0
  })
  if (said.every(([name]) => FLAGS.has(name))) return {}
  const filled = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, environment(text)]))
  const { images, commonLabels, commonAnnotations } = own
  return {
    ...(Object.fromEntries(said) as KustomizeOptions),
    ...compact({
      images: images?.length ? images.map(environment) : undefined,
      commonLabels: commonLabels && Object.keys(commonLabels).length > 0 ? filled(commonLabels) : undefined,
      commonAnnotations:
        own['commonAnnotationsEnvsubst'] === true && commonAnnotations ? filled(commonAnnotations) : undefined,
    }),
  }
}

function needsBuilder(
  directory: DirectoryOptions,
  { repoURL = '', targetRevision }: ArgoSource,
  { path, scene }: { readonly path: string; readonly scene: ApplicationCompileContext },
): boolean {
  if (directory.include || directory.exclude || directory.disableExtensionFilter) return true
  if (directory.recurse) return false
  const repository = scene.repositoryOf(repoURL, targetRevision)
  return repository === undefined || foldersOf(path, repository.paths).length > MAX_IGNORED
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
  value: ValueFilesScene,
  valuesFiles: readonly string[],
  { app, bundle }: Pick<ContentContext, 'app' | 'bundle'>,
): object {
  const { source, scene, environment } = value
  const own = source.helm ?? {}
  const { values, isTemplated } = valuesOf(own, {
    environment,
    files: fileParametersOf(value),
    wrong: (message) => scene.wrong(message),
  })
  const isOpen = hasPlaceholders(app.ownName)
  if (!own.releaseName && isOpen) {
    scene.note(
      `in Argo CD the release is called ${restorePlaceholders(app.ownName)}, here ${app.name} on every cluster: objects named after the release are new ones; say helm.releaseName if that matters`,
    )
  }
  // Templates see the name of the Application, whatever the name of the Bundle is.
  const releaseName = own.releaseName || (isOpen ? app.name : app.ownName)
  return compact({
    releaseName: releaseName === bundle ? undefined : releaseName,
    values: Object.keys(values).length === 0 ? undefined : values,
    valuesFiles: valuesFiles.length === 0 ? undefined : valuesFiles,
    valuesTemplating: isTemplated ? 'Templates' : undefined,
    namespace: own.namespace || undefined,
    skipCrds: own.skipCrds ? true : undefined,
    skipSchemaValidation: own.skipSchemaValidation ? true : undefined,
    kubeVersion: own.kubeVersion || undefined,
    apiVersions: own.apiVersions && own.apiVersions.length > 0 ? own.apiVersions : undefined,
  })
}

function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0) parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
