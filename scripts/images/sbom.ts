// Tested by scripts/images/images.contract.test.ts.
// The list of all that an image contains, in SPDX 2.3.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../src/core/version.ts'
import { root } from '../tiers.ts'
import type { Architecture, PinnedPackage } from './downloads.ts'
import { sha256 } from './oci.ts'

/** A package of npm that is part of a built file. */
export interface NpmPackage {
  readonly name: string
  readonly version: string
  readonly license: string
}

export interface SbomOptions {
  readonly image: string
  readonly architecture: Architecture
  readonly debian: readonly PinnedPackage[]
  readonly node: PinnedPackage
  readonly npm: readonly NpmPackage[]
}

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly dev?: boolean
}

/** Packages of the lockfile that some bundled files belong to. */
export function npmPackagesOf(inputs: readonly string[]): NpmPackage[] {
  const locked = readLock('')
  const paths = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [])
  return [...new Set(paths)].toSorted().map((path) => {
    const found = locked[path]
    if (found === undefined) throw new Error(`package-lock.json does not name ${path}, which is part of a bundle`)
    return npmPackage(path, found)
  })
}

/** Packages of the console's page: all that its workspace needs to run. */
export function pagePackages(): NpmPackage[] {
  const locked = Object.entries(readLock('console')).filter(([path, { dev }]) => path !== '' && !dev)
  return locked.map(([path, found]) => npmPackage(path, found))
}

function readLock(workspace: string): Readonly<Record<string, LockedPackage>> {
  const text = readFileSync(join(root, workspace, 'package-lock.json'), 'utf8')
  return (JSON.parse(text) as { readonly packages: Readonly<Record<string, LockedPackage>> }).packages
}

function npmPackage(path: string, { version = '', license = 'NOASSERTION' }: LockedPackage): NpmPackage {
  return { name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), version, license }
}

/** The SPDX document of an image. */
export function sbom({ image, architecture, debian, node, npm }: SbomOptions): object {
  const own = spdxPackage({ id: 'flotilla', name: image, version: VERSION, license: 'Apache-2.0', purl: undefined })
  const packages = [
    own,
    spdxPackage({
      id: 'node',
      name: 'node',
      version: node.version,
      license: 'MIT',
      purl: `pkg:generic/node@${node.version}?arch=${architecture}`,
      checksum: node.checksum,
    }),
    ...debian.map(({ name, version, checksum }) =>
      spdxPackage({
        id: `deb-${name}`,
        name,
        version,
        // The licenses are in /usr/share/doc/NAME/copyright of the image.
        license: 'NOASSERTION',
        purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`,
        checksum,
      }),
    ),
    ...npm.map(({ name, version, license }) =>
      spdxPackage({
        id: `npm-${name}-${version}`,
        name,
        version,
        license,
        purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      }),
    ),
  ]
  const content = JSON.stringify(packages)
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${image}-${VERSION}-${architecture}`,
    documentNamespace: `https://flotilla.dev/spdx/${image}-${VERSION}-${architecture}-${sha256(Buffer.from(content)).slice(0, 32)}`,
    creationInfo: { created: '1970-01-01T00:00:00Z', creators: [`Tool: flotilla-images-${VERSION}`] },
    packages,
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: own.SPDXID },
      ...packages.slice(1).map(({ SPDXID }) => ({
        spdxElementId: own.SPDXID,
        relationshipType: 'CONTAINS',
        relatedSpdxElement: SPDXID,
      })),
    ],
  }
}

interface PackageFacts {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly license: string
  readonly purl: string | undefined
  readonly checksum?: PinnedPackage['checksum']
}

function spdxPackage({ id, name, version, license, purl, checksum }: PackageFacts) {
  return {
    SPDXID: `SPDXRef-${id.replaceAll(/[^A-Za-z0-9.-]+/g, '-')}`,
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license,
    copyrightText: 'NOASSERTION',
    ...(checksum && { checksums: [{ algorithm: checksum.algorithm, checksumValue: checksum.hex }] }),
    ...(purl !== undefined && {
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
    }),
  }
}
