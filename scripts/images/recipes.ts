// Tested by scripts/images/images.contract.test.ts.
// What the images of hub, agent and CLI consist of. One recipe for all platforms.
import type { KeyObject } from 'node:crypto'
import { VERSION } from '../../src/core/version.ts'
import { HUB_HEAP } from '../bootstrap.mjs'
import type { Bundled } from '../bundle.ts'
import { debianPackages, nodePackage } from './downloads.ts'
import type { Architecture, PinnedPackage } from './downloads.ts'
import { IMAGE_USER, Layout, MEDIA } from './oci.ts'
import type { Descriptor, Layer, RunSettings } from './oci.ts'
import { npmPackagesOf, sbom } from './sbom.ts'
import type { NpmPackage } from './sbom.ts'
import { addSignature } from './signature.ts'
import { addDebianPackage, addFolder, fileOf, writeTree } from './tree.ts'
import type { Tree } from './tree.ts'

/** Built files: `npm run build` makes the same. */
export interface Program {
  /** The folder with the binaries and the console. */
  readonly folder: string
  readonly bundled: readonly Bundled[]
  /** Packages of the console's page. */
  readonly console: readonly NpmPackage[]
}

export const IMAGES = ['flotilla-hub', 'flotilla-agent', 'flotilla-cli'] as const
export type ImageName = (typeof IMAGES)[number]

export interface ImageOptions {
  readonly images: readonly ImageName[]
  readonly architectures: readonly Architecture[]
  readonly tag: string
  readonly program: Program
  readonly key?: KeyObject | undefined
}

export interface BuiltImage {
  readonly name: ImageName
  readonly digest: string
  /** Bytes to pull, by platform. */
  readonly sizes: Readonly<Record<string, number>>
}

interface Recipe {
  readonly title: string
  readonly hasGit: boolean
  readonly isWanted: (path: string) => boolean
  /** Names of the bundles whose packages are in the image. */
  readonly bundles: (name: string) => boolean
  readonly run: Pick<RunSettings, 'entrypoint' | 'command'> & {
    readonly environment?: Readonly<Record<string, string>>
  }
}

const isPartOfCli = (path: string): boolean =>
  /^(flotilla(-[A-Z0-9]+)?\.mjs|threads\/(template|agent-render)-thread\.mjs|flotilla.*LEGAL\.txt)$/.test(path)

const RECIPES: Readonly<Record<ImageName, Recipe>> = {
  'flotilla-hub': {
    title: 'Flotilla hub',
    hasGit: true,
    // The executable has its own Node; the hub serves the page and hands agents their program.
    isWanted: (path) => path !== 'flotilla',
    bundles: () => true,
    run: { entrypoint: ['/usr/bin/flotilla'], command: ['hub', 'run'], environment: HUB_HEAP },
  },
  'flotilla-agent': {
    title: 'Flotilla agent',
    hasGit: false,
    isWanted: (path) => /^agent\.mjs(\.LEGAL\.txt)?$/.test(path),
    bundles: (name) => name === 'agent',
    run: { entrypoint: ['/usr/bin/node', '/opt/flotilla/agent.mjs'] },
  },
  'flotilla-cli': {
    title: 'Flotilla command line',
    hasGit: false,
    isWanted: isPartOfCli,
    bundles: (name) => name === 'flotilla',
    run: { entrypoint: ['/usr/bin/flotilla'] },
  },
}

/** Builds images into a new layout. The same inputs give the same digests. */
export async function buildImages(folder: string, options: ImageOptions): Promise<BuiltImage[]> {
  const layout = new Layout(folder)
  const common = new Map<Architecture, CommonParts>()
  for (const architecture of options.architectures) {
    const needsGit = options.images.some((name) => RECIPES[name].hasGit)
    common.set(architecture, await commonParts(layout, architecture, needsGit))
  }
  const built = options.images.map((name) => buildImage(layout, name, common, options))
  layout.end()
  return built
}

interface CommonParts {
  readonly base: Layer
  readonly node: Layer
  readonly git: Layer | undefined
  readonly packages: {
    readonly base: readonly PinnedPackage[]
    readonly git: readonly PinnedPackage[]
    readonly node: PinnedPackage
  }
}

/** The layers that images share. */
async function commonParts(layout: Layout, architecture: Architecture, needsGit: boolean): Promise<CommonParts> {
  const base = await debianPackages('base', architecture)
  const git = needsGit ? await debianPackages('git', architecture) : []
  const node = await nodePackage(architecture)
  const nodeTree: Tree = new Map([
    ['usr/bin/node', fileOf(node.bytes)],
    ['usr/share/doc/node/copyright', fileOf(node.license)],
  ])
  return {
    base: layout.layer(writeTree(baseTree(base)), 'C library and CA certificates of Debian'),
    node: layout.layer(writeTree(nodeTree), `Node ${node.version}`),
    git: needsGit ? layout.layer(writeTree(gitTree(git)), 'git and ssh of Debian') : undefined,
    packages: { base, git, node },
  }
}

/** The least that Node needs of an operating system. */
function baseTree(packages: readonly PinnedPackage[]): Tree {
  const tree: Tree = new Map()
  for (const { name, bytes } of packages) addDebianPackage(tree, name, bytes)
  const certificates = [...tree].filter(([path]) => /^usr\/share\/ca-certificates\/.*\.crt$/.test(path))
  certificates.sort(([a], [b]) => (a < b ? -1 : 1))
  // One file instead of many, as update-ca-certificates makes it.
  const all = certificates.map(([path, node]) => {
    tree.delete(path)
    return node.type === 'file' ? `${Buffer.from(node.data).toString('utf8').trimEnd()}\n` : ''
  })
  const texts = {
    'etc/ssl/certs/ca-certificates.crt': all.join(''),
    'etc/passwd': `root:x:0:0:root:/root:/sbin/nologin\nflotilla:x:${IMAGE_USER}:${IMAGE_USER}:flotilla:/tmp:/sbin/nologin\n`,
    'etc/group': `root:x:0:\nflotilla:x:${IMAGE_USER}:\n`,
    'etc/nsswitch.conf': 'hosts: files dns\n',
    'etc/os-release':
      'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n',
  }
  for (const [path, text] of Object.entries(texts)) tree.set(path, fileOf(Buffer.from(text)))
  tree.set('tmp', { type: 'folder', mode: 0o1777 })
  for (const folder of ['proc', 'sys', 'dev', 'run', 'data']) tree.set(folder, { type: 'folder', mode: 0o755 })
  return tree
}

/** Git for Sources, ssh for its addresses, and the shell with which git starts ssh. */
function gitTree(packages: readonly PinnedPackage[]): Tree {
  const tree: Tree = new Map()
  for (const { name, bytes } of packages) addDebianPackage(tree, name, bytes)
  tree.set('bin/sh', { type: 'link', target: 'dash' })
  tree.set('usr/lib/git-core/git', { type: 'link', target: '../../bin/git' })
  return tree
}

function buildImage(
  layout: Layout,
  name: ImageName,
  common: ReadonlyMap<Architecture, CommonParts>,
  { program, tag, key }: ImageOptions,
): BuiltImage {
  const { title, hasGit, isWanted, bundles, run } = RECIPES[name]
  const tree: Tree = new Map()
  addFolder(tree, program.folder, 'opt/flotilla', isWanted)
  if (tree.has('opt/flotilla/flotilla.mjs')) {
    tree.set('usr/bin/flotilla', fileOf(Buffer.from("#!/usr/bin/node\nimport('/opt/flotilla/flotilla.mjs')\n")))
  }
  const own = layout.layer(writeTree(tree), `${title} ${VERSION}`)
  const labels = {
    'org.opencontainers.image.title': title,
    'org.opencontainers.image.version': VERSION,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  }
  const environment = {
    PATH: '/usr/bin:/bin',
    HOME: '/tmp',
    SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
    ...run.environment,
  }
  const inputs = program.bundled.filter(({ name }) => bundles(name)).flatMap((bundled) => bundled.inputs)
  const npm = [...npmPackagesOf(inputs), ...(hasGit ? program.console : [])]
  const sizes: Record<string, number> = {}
  const manifests: Descriptor[] = []
  const attached: { readonly descriptor: Descriptor; readonly tag: string }[] = []
  for (const [architecture, { base, node, git, packages }] of common) {
    const layers = [base, node, ...(hasGit && git ? [git] : []), own]
    const image = layout.image(architecture, layers, { ...run, environment, labels })
    manifests.push(image)
    sizes[architecture] = layers.reduce((sum, { descriptor }) => sum + descriptor.size, image.size)
    const debian = [...packages.base, ...(hasGit ? packages.git : [])]
    attached.push(addSbom(layout, image, sbom({ image: name, architecture, debian, node: packages.node, npm })))
  }
  const index = layout.json({ schemaVersion: 2, mediaType: MEDIA.index, manifests, annotations: labels }, MEDIA.index)
  layout.name(index, `${name}:${tag}`)
  for (const { descriptor, tag } of attached) layout.name(descriptor, `${name}:${tag}`)
  if (key) for (const signed of [index, ...manifests]) addSignature(layout, name, signed, key)
  return { name, digest: index.digest, sizes }
}

const SPDX = 'text/spdx+json'

/** A list of contents that belongs to the image of a platform, under the tag that `cosign download sbom` looks for. */
function addSbom(layout: Layout, { mediaType, digest, size }: Descriptor, content: object) {
  const manifest = {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    artifactType: SPDX,
    config: layout.json({}, MEDIA.empty),
    layers: [layout.json(content, SPDX)],
    subject: { mediaType, digest, size },
  }
  return { descriptor: layout.json(manifest, MEDIA.manifest), tag: `${digest.replace(':', '-')}.sbom` }
}
