// Builds every kustomization below directories with the real binary and with ours, and says where they differ.
// `npm run conformance:kustomize -- DIR… [--limit N] [--quiet]`
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { diskTree } from '../src/cli/repository/disk-tree.ts'
import { buildKustomization, buildText } from '../src/render/kustomize/build.ts'
import { KustomizeError } from '../src/render/kustomize/kustomize-error.ts'
import { needBinary } from '../src/testing/testenv.ts'

const NAMES = new Set(['kustomization.yaml', 'kustomization.yml', 'Kustomization'])
const TIMEOUT_MS = 60_000

interface Outcome {
  readonly text?: string
  readonly error?: string
}

type Verdict = 'identical' | 'different' | 'error on both' | 'only ours errors' | 'only theirs errors'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    limit: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    /** Where the two texts of each difference go. */
    keep: { type: 'string' },
  },
})

function* kustomizations(directory: string): Generator<string> {
  const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  if (entries.some((entry) => NAMES.has(entry.name))) yield directory
  for (const entry of entries) {
    if (entry.isDirectory() && entry.name !== '.git') yield* kustomizations(join(directory, entry.name))
  }
}

async function theirs(directory: string): Promise<Outcome> {
  try {
    const { stdout } = await promisify(execFile)(needBinary('kubectl'), ['kustomize', directory], {
      maxBuffer: 1 << 30,
      timeout: TIMEOUT_MS,
      env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
    })
    return { text: stdout }
  } catch (caught) {
    return { error: String((caught as { stderr?: string }).stderr ?? caught).trim() }
  }
}

function ours(directory: string): Outcome {
  try {
    return { text: buildText(buildKustomization(diskTree(), directory).resources) }
  } catch (caught) {
    if (caught instanceof KustomizeError) return { error: caught.message }
    return { error: `defect: ${caught instanceof Error ? caught.stack : String(caught)}` }
  }
}

function judge(own: Outcome, real: Outcome): Verdict {
  if (own.text !== undefined && real.text !== undefined) return own.text === real.text ? 'identical' : 'different'
  if (own.text === undefined && real.text === undefined) return 'error on both'
  return own.text === undefined ? 'only ours errors' : 'only theirs errors'
}

if (positionals.length === 0) {
  process.stderr.write('usage: npm run conformance:kustomize -- DIR… [--limit N] [--keep DIR] [--quiet]\n')
  process.exit(2)
}
const all = positionals.flatMap((directory) => [...kustomizations(resolve(directory))])
const queue = all.slice(0, Number(values.limit ?? all.length))
const counts = new Map<Verdict, number>()
let at = 0
let sameWords = 0

async function work(): Promise<void> {
  for (let directory = queue[at++]; directory !== undefined; directory = queue[at++]) {
    const real = await theirs(directory)
    const own = ours(directory)
    const verdict = judge(own, real)
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
    const inSameWords = verdict === 'error on both' && real.error!.includes(own.error!.trim())
    if (inSameWords) sameWords++
    if (verdict === 'identical' || inSameWords || (verdict === 'error on both' && values.quiet)) continue
    process.stdout.write(`${verdict}: ${directory}\n`)
    if (own.error !== undefined) process.stdout.write(`  ours:   ${own.error.replaceAll('\n', '\\n')}\n`)
    if (real.error !== undefined) process.stdout.write(`  theirs: ${real.error.replaceAll('\n', '\\n')}\n`)
    if (verdict === 'different' && values.keep !== undefined) {
      const name = join(values.keep, directory.replaceAll('/', '_'))
      mkdirSync(values.keep, { recursive: true })
      writeFileSync(`${name}.ours.yaml`, own.text!)
      writeFileSync(`${name}.theirs.yaml`, real.text!)
    }
  }
}

await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work))
process.stdout.write(`\n${queue.length} kustomizations\n`)
for (const [verdict, count] of [...counts].sort(([, a], [, b]) => b - a)) process.stdout.write(`${count}\t${verdict}\n`)
if (counts.get('error on both')) process.stdout.write(`\t(${sameWords} of the errors in the same words)\n`)
const isBad = [...counts.keys()].some((verdict) => verdict !== 'identical' && verdict !== 'error on both')
process.exitCode = isBad ? 1 : 0
