/** An Application, or all of one that differ only in their cluster, as Source, Placement, RolloutPlan and Bundle. */
import { nameFrom } from '../../core/name-from-address.ts'
import type { LabelRequirement } from '../../core/selector.ts'
import { Bundle } from '../../kinds/bundle.ts'
import { Placement } from '../../kinds/placement.ts'
import { RolloutPlan } from '../../kinds/rollout-plan.ts'
import { Source } from '../../kinds/source.ts'
import { isAutomated, optionsOf, textsIn } from './application.ts'
import type { ApplicationSpec, ArgoSource, Remarks } from './application.ts'
import { hasMarks, onlyWord, shownText } from './cluster-words.ts'
import { ignoredFiles } from './directory.ts'
import { valuesOf } from './helm-values.ts'
import type { OwnObjects } from './own-objects.ts'
import { locationOf } from './source-of.ts'

/** An Application as it is read. */
export interface Application {
  /** The name of its Bundle. */
  readonly name: string
  /** The set it is of, after which what is shared is called. */
  readonly set?: string
  /** Its name in Argo CD; with marks when there is one for each cluster. */
  readonly ownName: string
  readonly labels: Readonly<Record<string, string>>
  readonly finalizers: readonly string[]
  readonly spec: ApplicationSpec
  /** One for each cluster with these labels, instead of the destination. */
  readonly clusters?: readonly LabelRequirement[]
  /** The rings of its plan, when its set has steps. */
  readonly rings?: readonly object[]
}

/** What compiling needs. */
export interface CompileScene extends Remarks {
  readonly objects: OwnObjects
  /** The Cluster that a destination is here. */
  clusterOf(destination: string): string | undefined
  /** Who gets everything, whatever the destinations say. */
  readonly everybody?: readonly LabelRequirement[]
  pathsOf(repoURL: string): readonly string[] | undefined
}

const LOCAL = new Set(['in-cluster', 'https://kubernetes.default.svc'])
const OWN_PREFIX = /(^|\.)(argoproj\.io|flotilla\.dev)\//

/** Adds its objects; what cannot be said is told. */
export function compileApplication(app: Application, scene: CompileScene): void {
  const { spec } = app
  reportMarks(app, scene)
  const given = spec.sources && spec.sources.length > 0 ? spec.sources : spec.source ? [spec.source] : []
  const contents = given.filter(({ ref, path, chart }) => ref === undefined || path || chart)
  if (contents.length === 0) scene.wrong('spec.source must say what is deployed')
  const placement = placementOf(app, scene)
  const plan = planOf(app, scene)
  const options = optionsOf(spec, app.finalizers, scene)
  const { namespace } = spec.destination ?? {}
  const labels = Object.fromEntries(
    Object.entries(app.labels).filter(([key, value]) => !OWN_PREFIX.test(key) && !hasMarks(value)),
  )
  for (const source of contents) {
    const content = contentOf(source, { app, scene, given })
    if (content === undefined || placement === undefined) continue
    const rollout = {
      ...(plan === undefined ? {} : { plan }),
      ...(spec.revisionHistoryLimit === undefined ? {} : { history: Math.max(1, spec.revisionHistoryLimit) }),
    }
    scene.objects.add(Bundle, app.name, {
      labels,
      spec: {
        placement,
        ...content,
        secrets: 'Allow',
        ...(namespace && !hasMarks(namespace) ? { defaultNamespace: namespace } : {}),
        ...(Object.keys(rollout).length === 0 ? {} : { rollout }),
        ...options,
      },
    })
  }
}

/** What depends on the cluster can be said in values and nowhere else. */
function reportMarks({ spec }: Application, { wrong }: CompileScene): void {
  const { destination, source, sources, ...rest } = spec
  const bare = [...(source ? [source] : []), ...(sources ?? [])].map(({ helm, ...one }) => {
    const { values: _values, valuesObject: _object, parameters: _parameters, ...plain } = helm ?? {}
    return { ...one, helm: plain }
  })
  const told = new Set<string>()
  for (const [path, text] of textsIn({
    source: bare.length === 1 ? bare[0] : bare,
    destination: { namespace: destination?.namespace },
    ...rest,
  })) {
    if (!hasMarks(text) || told.has(path)) continue
    told.add(path)
    wrong(
      `${path} depends on the cluster (${shownText(text)}), which only values can; write a variant of the Bundle for each value of the label`,
    )
  }
}

function placementOf(app: Application, scene: CompileScene): string | undefined {
  const add = (spec: Placement['spec']): string => scene.objects.add(Placement, app.set ?? app.name, { spec })
  const { destination = {} } = app.spec
  const by = scene.everybody ?? app.clusters
  if (!scene.everybody && app.clusters) {
    const target = destination.name ?? destination.server ?? ''
    const word = onlyWord(target)
    if (word !== 'name' && word !== 'server') {
      scene.wrong(
        `destination ${JSON.stringify(shownText(target))} must be {{name}} or {{server}} of the clusters that the generator finds`,
      )
      return undefined
    }
  }
  if (by) return add({ clusterSelector: by.length === 0 ? {} : { matchExpressions: by.map(copyOf) } })
  const target = destination.name ?? destination.server ?? ''
  const cluster =
    scene.clusterOf(target) ?? (destination.name && !LOCAL.has(destination.name) ? destination.name : undefined)
  if (cluster !== undefined) {
    return add({ clusterSelector: {}, predicates: [{ cel: [`cluster.metadata.name == ${JSON.stringify(cluster)}`] }] })
  }
  scene.wrong(
    target === ''
      ? 'destination must name a cluster'
      : `destination ${target}: which Cluster is that here? say --cluster ${target}=NAME, or -l LABELS for all of it`,
  )
  return undefined
}

function copyOf({ key, operator, values }: LabelRequirement) {
  return { key, operator, ...(values ? { values: [...values] } : {}) }
}

function planOf(app: Application, scene: CompileScene): string | undefined {
  const isManual = !isAutomated(app.spec)
  if (!isManual && !app.rings) return undefined
  const spec = { ...(app.rings ? { rings: app.rings } : {}), ...(isManual ? { start: 'Manual' } : {}) }
  return scene.objects.add(RolloutPlan, app.set ?? app.name, { spec })
}

interface ContentScene {
  readonly app: Application
  readonly scene: CompileScene
  readonly given: readonly ArgoSource[]
}

function contentOf(source: ArgoSource, { app, scene, given }: ContentScene): object | undefined {
  const main = addSource(source, scene)
  if (main === undefined) return undefined
  const path = cleanPath(source.chart ? '' : (source.path ?? ''))
  const style = source.chart ? 'Helm' : styleOf(source, path, scene)
  const include: { source: string; at: string }[] = []
  const valuesFiles = (source.helm?.valueFiles ?? []).flatMap((file) => {
    const found = valuesFile(file, { path, given, scene })
    if (found === undefined) return []
    if (found.include && !include.some(({ at }) => at === found.include!.at)) include.push(found.include)
    return [found.file]
  })
  const helm = style === 'Helm' ? helmOf(source, valuesFiles, { app, scene }) : {}
  const paths = scene.pathsOf(source.repoURL ?? '')
  const ignore = style === 'Raw' ? ignoredFiles(source.directory ?? {}, { path, paths }, scene) : []
  return {
    source: {
      name: main,
      ...(path === '' ? {} : { path }),
      ...(ignore.length === 0 ? {} : { ignore }),
      ...(include.length === 0 ? {} : { include }),
    },
    ...(style === undefined ? {} : { style }),
    ...(Object.keys(helm).length === 0 ? {} : { helm }),
  }
}

function addSource(source: ArgoSource, scene: CompileScene): string | undefined {
  const location = locationOf(source)
  if ('problem' in location) {
    scene.wrong(location.problem)
    return undefined
  }
  if (location.note !== undefined) scene.note(location.note)
  return scene.objects.add(Source, nameFrom(source.chart ?? source.repoURL ?? ''), { spec: location.spec })
}

/** What Argo CD would take the directory for. */
function styleOf(source: ArgoSource, path: string, scene: CompileScene): 'Helm' | 'Kustomize' | 'Raw' | undefined {
  if (source.helm) return 'Helm'
  if (source.kustomize) return 'Kustomize'
  if (source.directory) return 'Raw'
  const paths = scene.pathsOf(source.repoURL ?? '')
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
  { app, scene }: Omit<ContentScene, 'given'>,
): object {
  const { values, isTemplated } = valuesOf(source.helm ?? {}, (message) => scene.wrong(message))
  const releaseName = source.helm?.releaseName
  if (!releaseName && hasMarks(app.ownName)) {
    scene.note(
      `in Argo CD the release is called ${shownText(app.ownName)}, here ${app.name} on every cluster: objects named after the release are new ones; say helm.releaseName if that matters`,
    )
  }
  return {
    ...(releaseName
      ? { releaseName }
      : app.ownName === app.name || hasMarks(app.ownName)
        ? {}
        : { releaseName: app.ownName }),
    ...(Object.keys(values).length === 0 ? {} : { values }),
    ...(valuesFiles.length === 0 ? {} : { valuesFiles }),
    ...(isTemplated ? { valuesTemplating: 'Templates' } : {}),
  }
}

interface ValuesFileScene {
  readonly path: string
  readonly given: readonly ArgoSource[]
  readonly scene: CompileScene
}

/** Where a values file is from the path of the Bundle, and what must be included for it. */
function valuesFile(
  file: string,
  { path, given, scene }: ValuesFileScene,
): { readonly file: string; readonly include?: { source: string; at: string } } | undefined {
  if (/^[a-z]+:\/\//i.test(file) || /[*?[{]/.test(file)) {
    scene.wrong(
      `helm.valueFiles: ${file} is ${file.includes('://') ? 'an address' : 'a pattern'}; name files of the repository`,
    )
    return undefined
  }
  const [, ref, inRef] = /^\$([^/]+)\/(.+)$/.exec(file) ?? []
  if (ref === undefined) {
    const up = path === '' ? '' : '../'.repeat(path.split('/').length)
    return { file: file.startsWith('/') ? `${up}${file.replace(/^\/+/, '')}` : file }
  }
  const source = given.find((one) => one.ref === ref)
  const name = source && addSource(source, scene)
  if (name === undefined) {
    if (!source) scene.wrong(`helm.valueFiles: ${file} names ref ${ref}, and no source has it`)
    return undefined
  }
  const at = `.refs/${ref}`
  return { file: `${at}/${cleanPath(inRef!)}`, include: { source: name, at } }
}

function cleanPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
}
