/** `flotilla demo`: a hub and simulated clusters on this machine. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Clock } from '../../../core/time/clock.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { silentLogger } from '../../../core/log.ts'
import { toError } from '../../../core/errors.ts'
import type { CliEnvironment } from '../../config.ts'
import { readDemoState, writeDemoState } from '../../api/demo-state.ts'
import type { DemoState } from '../../api/demo-state.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface DemoInput {
  readonly terminal: Terminal
  readonly environment: CliEnvironment
  readonly signal: AbortSignal
}

// Without these flags the hub, its threads and sixty clusters need twice the memory; a demo often runs on a laptop.
// Optimised code alone takes 15 MB in all threads and saves a third of the processor time.
const FRUGAL = [
  '--max-semi-space-size=1',
  '--semi-space-growth-factor=1',
  '--optimize-for-size',
  '--no-sparkplug',
  '--no-maglev',
  '--no-opt',
]

/** Runs the demo until the signal is aborted, or with `--check` until the demo is proven. */
export async function demo(input: DemoInput, flags: Record<string, unknown>): Promise<ExitCode> {
  const { terminal, environment, signal } = input
  const isCheck = Boolean(flags['check'])
  if (flags['reset']) {
    await resetKept(input)
    if (!flags['keep']) return EXIT.ok
  }
  const clusters = countOf('--clusters', flags['clusters'] ?? (isCheck ? 3 : 60), 500)
  for (const flag of FRUGAL) setFlagsFromString(flag)
  const { startDemo } = await import('../../../sim/demo/demo.ts')
  const logLevel = flags['verbose'] ? 'info' : 'silent'
  const log = flags['verbose'] ? (await import('../../../hub/logger.ts')).createLogger(logLevel) : silentLogger
  terminal.step('wait', `starting a hub and ${clusters} simulated clusters`)
  const running = await startDemo({
    clock: systemClock,
    ids: systemIds,
    log,
    logLevel,
    clusters,
    withTrouble: !isCheck,
    ...(typeof flags['data'] === 'string' && { data: flags['data'] }),
    ...(flags['keep'] === true && { keep: keptAt(environment) }),
  })
  try {
    if (isCheck) {
      const { checkDemo } = await import('../../../sim/demo/check.ts')
      const timeoutSeconds = secondsOf(flags['timeout'])
      return await prove({ ...running, timeoutSeconds, check: (ports) => checkDemo(running, ports) }, input)
    }
    const stop = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => stop.resolve(), { once: true })
    if (signal.aborted) stop.resolve()
    terminal.step('ok', `the hub is ready; the clusters join over mutual TLS`)
    await Promise.race([stop.promise, running.ended, running.arrived])
    // Without a state file, other commands need --kubeconfig; the demo works without it.
    const announced = await writeDemoState(environment.demoStateFile, {
      pid: process.pid,
      kubeconfig: running.hub.kubeconfig,
      door: running.door,
    }).catch(() => undefined)
    try {
      const other = announced && 'other' in announced ? announced.other : undefined
      const isKnown = announced !== undefined && other === undefined
      const needsFlag = !isKnown || environment.kubeconfigs !== undefined
      if (!signal.aborted) {
        const ending =
          flags['keep'] === true
            ? `Ctrl-C ends the demo; "flotilla demo --keep" continues it`
            : 'Ctrl-C ends the demo and deletes its data'
        terminal.data(terminal.command(welcome(running, { needsFlag, isKnown, ok: terminal.sign('ok'), ending })))
        if (other) terminal.step('warn', secondDemoNote(other))
        if (flags['buildConsole'] === true) running.hub.prepareConsole()
      }
      await Promise.race([stop.promise, running.ended])
      terminal.say('stopping')
    } finally {
      if (announced && 'forget' in announced) await announced.forget()
    }
    return EXIT.ok
  } finally {
    await running.close()
  }
}

/** What a second demo on the machine says. */
function secondDemoNote({ pid }: DemoState): string {
  return `another demo runs as process ${pid}; commands without --kubeconfig, and "flotilla demo release" and the other situations, use that demo`
}

/** The directory of a kept demo. */
function keptAt({ stateFolder }: CliEnvironment): string {
  return join(stateFolder, 'demo')
}

async function resetKept({ terminal, environment }: DemoInput): Promise<void> {
  const running = await readDemoState(environment.demoStateFile)
  if (running?.kubeconfig.startsWith(`${keptAt(environment)}/`)) {
    throw new CliError(EXIT.conflict, {
      what: `the kept demo is running as process ${running.pid}`,
      todo: 'end the demo with Ctrl-C first',
    })
  }
  await rm(keptAt(environment), { recursive: true, force: true })
  terminal.step('ok', 'the state of the kept demo was deleted')
}

/** The addresses of a running hub. */
interface Hub {
  readonly api: string
  readonly gateway: string
  readonly kubeconfig: string
  signInUrl(): string
}

interface Proof {
  readonly hub: Hub
  readonly ended: Promise<void>
  readonly timeoutSeconds: number
  readonly check: (ports: {
    readonly clock: Clock
    readonly signal: AbortSignal
    readonly proven: (what: string) => void
    readonly getClusters: () => Promise<string>
  }) => Promise<void>
}

async function prove({ hub, ended, timeoutSeconds, check }: Proof, input: DemoInput): Promise<ExitCode> {
  const { terminal, environment, signal } = input
  const late = new AbortController()
  const done = new AbortController()
  systemClock.sleep(timeoutSeconds * 1000, done.signal).then(
    () => late.abort(new Error(`not proven within ${timeoutSeconds} s`)),
    () => {}, // proven in time
  )
  terminal.data(`${terminal.sign('ok')} start: hub ready at ${hub.api}, gateway ${hub.gateway}\n`)
  try {
    await Promise.race([
      ended,
      check({
        clock: systemClock,
        signal: AbortSignal.any([signal, late.signal]),
        proven: (what) => terminal.data(`${terminal.sign('ok')} ${what}\n`),
        getClusters: () => runGet(['get', 'clusters', '--kubeconfig', hub.kubeconfig], environment),
      }),
    ])
  } catch (caught) {
    terminal.data(`${terminal.sign('fail')} ${toError(caught).message}\n`)
    if (signal.aborted) return EXIT.interrupted
    return late.signal.aborted ? EXIT.timeout : EXIT.failed
  } finally {
    done.abort()
  }
  terminal.data('the demo works\n')
  return EXIT.ok
}

/** The stdout of a command. */
async function runGet(args: readonly string[], environment: CliEnvironment): Promise<string> {
  const { runCli } = await import('../../run.ts')
  const { createTerminal } = await import('../../print/terminal.ts')
  let text = ''
  let errors = ''
  const exitCode = await runCli(args, {
    environment,
    signal: new AbortController().signal,
    stdin: process.stdin,
    terminalFor: () =>
      createTerminal({
        stdout: { write: (part) => (text += part), isTTY: false },
        stderr: { write: (part) => (errors += part), isTTY: false },
        stdinIsTTY: false,
        environment: { isUtf8: true, color: false, program: environment.program },
      }),
  })
  if (exitCode !== EXIT.ok) throw new Error(`flotilla ${args.join(' ')} ended with ${exitCode}: ${errors.trim()}`)
  return text
}

interface Welcome {
  /** A kubeconfig of the environment has precedence over the running demo. */
  readonly needsFlag: boolean
  /** Whether the situations reach this demo. */
  readonly isKnown: boolean
  readonly ok: string
  readonly ending: string
}

interface Running {
  readonly hub: Hub
  readonly sites: readonly { readonly store: Store }[]
  readonly repository: { readonly path: string }
}

interface Store {
  readonly name: string
  readonly region: string
  readonly fault?: string
}

function welcome({ hub, sites, repository }: Running, { needsFlag, isKnown, ok, ending }: Welcome): string {
  const flag = needsFlag ? ` --kubeconfig ${hub.kubeconfig}` : ''
  return `${ok} ${sites.length} clusters joined${faultText(sites.map(({ store }) => store))}; ${ending}

  console      ${hub.signInUrl()}
  kubeconfig   ${hub.kubeconfig}
  git          ${repository.path}

Try in another terminal:
  flotilla status${flag}
  flotilla get rollouts -o wide${flag}
${isKnown ? '  flotilla demo release\n' : ''}`
}

/** The unhealthy stores, for the first line. */
function faultText(stores: readonly Store[]): string {
  const storesWith = (fault: string): readonly Store[] => stores.filter((store) => store.fault === fault)
  const flaky = storesWith('Flaky')
  if (flaky.length === 0) return ''
  const names = (fault: string): string =>
    storesWith(fault)
      .map(({ name }) => name)
      .join(', ')
  return `: ${flaky.length} in region ${flaky[0]!.region} have unstable connections, ${names('Offline')} are offline, ${names('Failing')} fails`
}

function countOf(flag: string, value: unknown, max: number): number {
  const count = Number(value)
  if (Number.isInteger(count) && count >= 1 && count <= max) return count
  throw new CliError(EXIT.usage, {
    what: `invalid ${flag} ${JSON.stringify(value)}: must be a number from 1 to ${max}`,
  })
}

function secondsOf(value: unknown): number {
  const seconds = Number(value)
  if (seconds > 0 && seconds <= 86_400) return seconds
  throw new CliError(EXIT.usage, { what: `invalid --timeout ${JSON.stringify(value)}: must be seconds, at most 86400` })
}
