// The tiers of tests: which files are in one, what it needs on the machine, and how it is run.
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { missingForSandbox } from '../src/testing/node/sandbox.ts'
import { type BinaryName, debianPartsDir, findBinary, findChromium, NODE_PARTS } from '../src/testing/testenv.ts'
import { run } from './child.ts'

/** The clone's root. */
export const root = join(import.meta.dirname, '..')

/** A kind of test, told apart by the file name: x.<tier>.test.ts, or x.test.ts for unit. */
export type TierName = 'unit' | 'house' | 'contract' | 'sim' | 'oracle' | 'real' | 'browser' | 'deep' | 'node'

/** What a run of a tier came to. */
export interface TierResult {
  readonly ok: boolean
  readonly tests: number
  readonly pass: number
  readonly fail: number
  readonly skipped: number
  readonly seconds: number
  /** Why it is not ok, where the counts do not say it. */
  readonly why?: string
}

/** Several times what a tier takes on two idle cores: a busy machine is no failure. */
const DEADLINE_MS: Readonly<Record<TierName, number>> = {
  unit: 900_000,
  house: 900_000,
  contract: 1_500_000,
  sim: 1_200_000,
  oracle: 1_500_000,
  real: 2_700_000,
  browser: 900_000,
  deep: 3_600_000,
  node: 2_700_000,
}

/** A unit test that hangs is told by its name, long before the deadline of its tier. */
const UNIT_TEST_MS = 120_000

const REAL: readonly BinaryName[] = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'etcd',
  'kwok',
  'kubectl',
  'versitygw',
]

/** The parts a tier needs that this machine has not, and the command that brings them. */
export function missingParts(tier: TierName): { readonly parts: readonly string[]; readonly command: string } {
  if (tier === 'node') return missingNodeParts()
  const binaries: readonly BinaryName[] = tier === 'oracle' ? ['helm', 'helm3', 'kubectl'] : tier === 'real' ? REAL : []
  if (tier === 'browser') {
    return { parts: findChromium() === undefined ? ['chromium'] : [], command: 'apt-get install chromium' }
  }
  return { parts: binaries.filter((name) => findBinary(name) === undefined), command: 'npm run testenv' }
}

function missingNodeParts(): { readonly parts: readonly string[]; readonly command: string } {
  const rights = missingForSandbox()
  if (rights.length > 0) return { parts: rights, command: 'run the tests as root on Linux with cgroup v1' }
  const binaries = [...REAL, 'helm' as const, ...NODE_PARTS].filter((name) => findBinary(name) === undefined)
  const parts = existsSync(debianPartsDir()) ? binaries : [...binaries, 'containerd']
  return { parts, command: 'npm run testenv -- node' }
}

/** The test files of a tier, in the order of their names. */
export function filesOf(tier: TierName): string[] {
  const all = globSync('{src,test,console,scripts}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.split('/').includes('node_modules'),
  }).toSorted()
  return all.filter((file) => tierOf(file) === tier)
}

function tierOf(file: string): TierName {
  const named = /\.(contract|sim|oracle|real|browser|deep|node)\.test\.ts$/.exec(file)?.[1] as TierName | undefined
  return named ?? (file.startsWith('test/house/') ? 'house' : 'unit')
}

/**
 * Runs the tests of a tier with node:test: all files, or the given ones one after the other. A tier in which nothing was
 * executed is a failure.
 */
export async function runTier(
  tier: TierName,
  onOutput?: (text: string) => void,
  alone?: readonly string[],
): Promise<TierResult & { output: string }> {
  const started = performance.now()
  const files = alone ?? filesOf(tier)
  if (files.length === 0) return { ...nothing, output: '', why: `there are no ${tier} tests` }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env // a test of this script is itself run by node:test
  const oneProcess = tier === 'unit' || tier === 'house'
  const args = [
    '--test',
    ...(oneProcess
      ? ['--test-isolation=none', `--test-timeout=${UNIT_TEST_MS}`]
      : [
          `--test-concurrency=${alone !== undefined || tier === 'real' || tier === 'browser' || tier === 'node' ? 1 : 2}`,
        ]),
    '--test-reporter=./scripts/quiet-reporter.mjs',
    '--test-reporter-destination=stdout',
    ...files,
  ]
  const ended = await run(process.execPath, args, { cwd: root, env, onOutput, deadlineMs: DEADLINE_MS[tier] })
  const count = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(ended.output)?.[1] ?? 0)
  const counts = { tests: count('tests'), pass: count('pass'), fail: count('fail'), skipped: count('skipped') }
  const executed = counts.tests - counts.skipped
  const why = ended.late
    ? `stopped after ${DEADLINE_MS[tier] / 60_000} minutes`
    : executed === 0
      ? `${files.length} files, but no test was executed`
      : ended.code !== 0 && counts.fail === 0
        ? 'something failed outside of a test'
        : undefined
  const seconds = (performance.now() - started) / 1000
  return { ...counts, ok: ended.code === 0 && why === undefined, seconds, why, output: ended.output }
}

/** Tiers whose tests wait for real processes, sockets and servers. The others have no excuse. */
const REAL_TIME: ReadonlySet<TierName> = new Set(['contract', 'oracle', 'real', 'browser'])
const MAX_AGAIN = 3

/**
 * The files to run once more, alone: those with a failed test, when they are few and every failure is known by its file.
 * Otherwise undefined.
 */
export function filesToRunAgain(
  tier: TierName,
  { output, fail, why }: Pick<TierResult, 'fail' | 'why'> & { readonly output: string },
): readonly string[] | undefined {
  if (!REAL_TIME.has(tier) || fail === 0 || why !== undefined) return undefined
  const failed = output.split('\n').filter((line) => line.startsWith('✖ '))
  const files = failed.flatMap((line) => /^✖ ([^\s:]+\.test\.ts)(?::\d+)?  /.exec(line)?.[1] ?? [])
  const once = [...new Set(files)]
  return files.length === failed.length && once.length > 0 && once.length <= MAX_AGAIN ? once : undefined
}

const nothing: TierResult = { ok: false, tests: 0, pass: 0, fail: 0, skipped: 0, seconds: 0 }
