// Tested by src/cli/commands/ocm/clusteradm/clusteradm.test.ts, and with a cluster by test/e2e/ocm-labs.real.test.ts.
/** `clusteradm join` and `unjoin`: the agent runs beside the cluster, as a process in the background. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readWholeNumber } from '../../../../core/read-number.ts'
import type { Clock } from '../../../../core/time/clock.ts'
import { clusterNameOf } from '../../cluster/add-terms.ts'
import type { CliEnvironment } from '../../../config.ts'
import { CliError, EXIT } from '../../../errors/cli-error.ts'
import { readText } from '../../../input/read-text-file.ts'
import type { Terminal } from '../../../print/terminal.ts'
import { optionalText, textOf } from './clusteradm-run.ts'
import type { ClusteradmInput } from './clusteradm-run.ts'

export interface SpokeInput extends Pick<ClusteradmInput, 'flags' | 'program' | 'signal'> {
  readonly terminal: Terminal
  readonly environment: CliEnvironment
  readonly clock: Clock
}

const LOOK_MS = 200
const WAIT_MS = 300_000
const STOP_MS = 15_000

/** Starts the agent of a cluster. With `--wait`, returns when the hub knows the cluster. */
export async function clusteradmJoin(input: SpokeInput): Promise<void> {
  const { terminal, flags, environment, program } = input
  const token = textOf(flags, 'hubToken', '--hub-token')
  const name = clusterNameOf(textOf(flags, 'clusterName', '--cluster-name'))
  const kubeconfig = kubeconfigOf(input)
  await readText(kubeconfig)
  const data = dataOf(name, input)
  if ((await runningIn(data)) !== undefined) {
    throw new CliError(EXIT.conflict, {
      what: `an agent of cluster ${JSON.stringify(name)} already runs with the data directory ${data}`,
      todo: `stop it with "${program} unjoin --cluster-name ${name}"`,
    })
  }
  await mkdir(data, { recursive: true, mode: 0o700 })
  const named = optionalText(flags, 'context')
  const context = named === undefined ? [] : ['--context', named]
  const words = ['agent', 'run', '--join-file', '-', '--name', name, '--kubeconfig', kubeconfig, '--data', data]
  const agent = start([...environment.self, ...words, ...context], { data, token, environment })
  await writeFile(pidFile(data), `${agent.pid ?? ''}\n`, { mode: 0o600 })
  if (flags['wait'] === true) await waitForEnrolment(name, data, agent, input)
  agent.unref()
  terminal.data(
    `Please log onto the hub cluster and run the following command:\n\n    ${program} accept --clusters ${name}\n\n`,
  )
  terminal.say(`The agent runs beside the cluster as process ${agent.pid}. Its log is ${logFile(data)}.`)
  terminal.say(`To run the agent inside the cluster, apply the output of "flotilla cluster add ${name} -o manifest".`)
  terminal.step('next', `the same with Flotilla: flotilla ${words.join(' ')}`)
}

/** Stops the agent that `join` started. Everything in the cluster stays. */
export async function clusteradmUnjoin(input: SpokeInput): Promise<void> {
  const { terminal, flags, clock, signal } = input
  const name = clusterNameOf(textOf(flags, 'clusterName', '--cluster-name'))
  const data = dataOf(name, input)
  const pid = await runningIn(data)
  if (pid === undefined) {
    throw new CliError(EXIT.notFound, {
      what: `no agent of cluster ${JSON.stringify(name)} runs with the data directory ${data}`,
      todo: `for an agent inside the cluster, run "flotilla cluster decommission ${name} --orphan"`,
    })
  }
  process.kill(pid, 'SIGTERM')
  const endsAt = clock.monotonicMs() + STOP_MS
  while ((await runningIn(data)) !== undefined) {
    if (clock.monotonicMs() > endsAt) {
      throw new CliError(EXIT.failed, { what: `the agent (process ${pid}) did not stop within ${STOP_MS / 1000} s` })
    }
    await clock.sleep(LOOK_MS, signal)
  }
  await rm(pidFile(data), { force: true })
  terminal.data(
    `The agent of ${name} was stopped, and everything it applied stays in the cluster. The status of managedcluster ${name} will be unknown in the hub cluster.\n`,
  )
  terminal.step('next', `to remove the cluster from the fleet: flotilla cluster decommission ${name} --orphan`)
}

/** Kubeconfig of the cluster that joins: as kubectl finds it. */
function kubeconfigOf({ flags, environment }: SpokeInput): string {
  const named =
    optionalText(flags, 'kubeconfig') ?? environment.variables['KUBECONFIG']?.split(':').find((file) => file !== '')
  return resolve(named ?? environment.defaultKubeconfig)
}

function dataOf(name: string, { flags, environment }: SpokeInput): string {
  return resolve(optionalText(flags, 'data') ?? join(environment.stateFolder, 'agents', name))
}

const pidFile = (data: string): string => join(data, 'agent.pid')
const logFile = (data: string): string => join(data, 'agent.log')

function start(
  [file = '', ...args]: readonly string[],
  { data, token, environment }: { readonly data: string; readonly token: string; readonly environment: CliEnvironment },
): ChildProcess {
  const log = openSync(logFile(data), 'w', 0o600)
  try {
    // Called under another name, this program would read the words as clusteradm does.
    const env = { ...environment.variables, FLOTILLA_PROGRAM: undefined }
    const agent = spawn(file, args, { detached: true, stdio: ['pipe', log, log], env })
    // The other users of the machine can read arguments, and not standard input.
    agent.stdin?.on('error', () => {})
    agent.stdin?.end(`${token}\n`)
    return agent
  } finally {
    closeSync(log)
  }
}

async function waitForEnrolment(name: string, data: string, agent: ChildProcess, input: SpokeInput): Promise<void> {
  const { clock, signal, terminal } = input
  const endsAt = clock.monotonicMs() + WAIT_MS
  for (;;) {
    const log = await readFile(logFile(data), 'utf8')
    if (log.includes('"enrolled"')) return terminal.step('ok', `the hub knows cluster ${JSON.stringify(name)}`)
    const hasEnded = agent.exitCode !== null || agent.signalCode !== null
    if (hasEnded || clock.monotonicMs() > endsAt) {
      // The line before the last says why the agent stops.
      const lines = log.trim().split('\n')
      const last = lines.findLast((line) => !line.includes('"agent stopped"')) ?? ''
      throw new CliError(EXIT.failed, {
        what: hasEnded
          ? `the agent of cluster ${JSON.stringify(name)} ended`
          : `cluster ${JSON.stringify(name)} did not reach the hub within ${WAIT_MS / 60_000} minutes`,
        why: last,
        todo: `read its log ${logFile(data)}`,
      })
    }
    await clock.sleep(LOOK_MS, signal)
  }
}

/** The process of the agent with this data directory. A process with another command is not the agent. */
async function runningIn(data: string): Promise<number | undefined> {
  const text = await readFile(pidFile(data), 'utf8').catch(() => '')
  const pid = readWholeNumber(text.trim())
  if (pid === undefined || pid <= 1) return undefined
  const command = await commandOf(pid)
  return command.includes('agent run') && command.includes(data) ? pid : undefined
}

async function commandOf(pid: number): Promise<string> {
  return await new Promise((done) => {
    let text = ''
    const ps = spawn('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
    ps.stdout.on('data', (bytes: Buffer) => (text += bytes.toString('utf8')))
    ps.once('error', () => done(''))
    ps.once('close', () => done(text))
  })
}
