/**
 * Compiles a repository as Fleet reads it: each directory by itself, so that a mistake in one directory does not stop
 * another.
 */
import { fromUtf8 } from '../../../core/bytes.ts'
import { subdomainProblems } from '../../../core/text/name-validation.ts'
import { compileBundle } from './compile-bundle.ts'
import type { CompiledBundle, BundleCompileContext, GitRepoOptions } from './compile-bundle.ts'
import { readFleetYaml } from '../files/fleet-yaml.ts'
import type { FleetYaml } from '../files/fleet-yaml.ts'
import type { Finding } from '../../read-fields.ts'
import { scanRepository } from '../files/scan.ts'
import type { ScanRequest } from '../files/scan.ts'

/** The inputs of compiling a repository. */
export interface RepositoryRequest {
  readonly gitRepo: BundleCompileContext['gitRepo']
  readonly spec: GitRepoOptions & Omit<ScanRequest, 'gitRepo'>
  readonly workspace: BundleCompileContext['workspace']
  readonly files: Pick<ReadonlyMap<string, Uint8Array>, 'get' | 'keys'>
}

/** The result of compiling a repository. */
export interface ReadRepository {
  readonly bundles: readonly CompiledBundle[]
  readonly findings: readonly Finding[]
  /** Directories whose bundle could not be compiled; their earlier objects stay. */
  readonly failed: readonly string[]
}

const NOTHING: FleetYaml = { customizations: [], allMatches: false }

export function compileRepository({ gitRepo, spec, workspace, files }: RepositoryRequest): ReadRepository {
  const findings: Finding[] = []
  const text = (path: string): string | undefined => {
    const bytes = files.get(path)
    try {
      return bytes && fromUtf8(bytes)
    } catch {
      return undefined
    }
  }
  const scanned = scanRepository(
    { paths: [...files.keys()].sort(), text },
    { ...spec, gitRepo: gitRepo.name },
    findings,
  )
  const bundles = new Map<string, CompiledBundle>()
  const failed: string[] = []
  for (const directory of scanned) {
    const { path, fleetYaml } = directory
    const content = fleetYaml === undefined ? undefined : text(fleetYaml)
    const file = fleetYaml ?? (path || '.')
    if (fleetYaml !== undefined && content === undefined) {
      findings.push({ level: 'error', file, message: 'the file is not UTF-8 text' })
      failed.push(path)
      continue
    }
    const yaml = content === undefined ? NOTHING : readFleetYaml(content, file, findings)
    const before = findings.length
    const scene = { gitRepo, options: spec, workspace, findings, file: (name: string) => files.get(name) }
    const compiled = yaml && compileBundle(directory, yaml, scene)
    if (!compiled) {
      const isWrong = !yaml || findings.slice(before).some(({ level }) => level === 'error')
      if (isWrong) failed.push(path)
      continue
    }
    const wrong = nameProblem(compiled, bundles)
    if (wrong === undefined) bundles.set(compiled.name, compiled)
    else {
      findings.push({ level: 'error', file, message: wrong })
      failed.push(path)
    }
  }
  return { bundles: [...bundles.values()], findings, failed }
}

function nameProblem({ name, path }: CompiledBundle, others: ReadonlyMap<string, CompiledBundle>): string | undefined {
  const [problem] = subdomainProblems(name)
  if (problem !== undefined) return `the bundle would be called ${JSON.stringify(name)}: ${problem}`
  const other = others.get(name)
  if (!other) return undefined
  return `the bundle would be called ${name}, and so is that of ${JSON.stringify(other.path || '.')}; give ${JSON.stringify(path || '.')} a name in its fleet.yaml`
}
