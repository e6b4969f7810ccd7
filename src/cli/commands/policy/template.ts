// Tested by src/cli/commands/policy/template.contract.test.ts.
/** `flotilla policy template`: templates resolved as the resolver of Open Cluster Management does. */
import { readFile } from 'node:fs/promises'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { hubNamespaceOf, readDocument, resolveDocument } from '../../../render/policy-template/policy-document.ts'
import type { HubSide } from '../../../render/policy-template/policy-document.ts'
import { lintPolicy, printFindings } from '../../../render/policy-template/lint/lint-policy.ts'
import { PolicyTemplateError } from '../../../render/policy-template/resolve-template.ts'
import { EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'
import { ENTROPY } from '../../repository/bundle-recipe.ts'
import { clusterObjects, withReads } from './cluster-objects.ts'
import { openProblem, readStdin } from './policy-files.ts'
import type { PolicyInput } from './policy-files.ts'

/** Flags of the command. */
export interface TemplateFlags {
  readonly kubeconfig?: string
  readonly hubKubeconfig?: string
  readonly clusterName?: string
  readonly hubNamespace?: string
  readonly objectName?: string
  readonly objectNamespace?: string
  readonly localResources?: string
  readonly skipPolicyValidation?: boolean
}

/** A command line that is wrong, in the words of the original; the exit code is 1. */
class WrongArguments extends Error {}

/** The exit code for templates that cannot be resolved. */
const UNRESOLVED = EXIT.usage
/** The exit code for findings without an error. */
const FINDINGS = EXIT.notFound

/** Prints the resolved policy. Exits with 2 if a template fails. */
export async function policyTemplate(
  files: readonly string[],
  input: PolicyInput<TemplateFlags>,
): Promise<ExitCode | void> {
  const { terminal, flags, environment } = input
  return orWrongArguments(terminal, async () => {
    if (flags.hubKubeconfig !== undefined && (flags.clusterName ?? '') === '') {
      throw new WrongArguments(
        'when a hub kubeconfig is provided, you must provide a managed cluster name for hub templates to resolve using the cluster-name argument',
      )
    }
    const text = await readInput(files, input)
    const variable = (environment.variables['KUBECONFIG'] ?? '').split(':').find((file) => file !== '')
    const objects = clusterObjects(flags.kubeconfig ?? variable ?? environment.defaultKubeconfig)
    const hubObjects = flags.hubKubeconfig === undefined ? undefined : clusterObjects(flags.hubKubeconfig)
    try {
      const hub = hubObjects && { hub: await hubSide(text, hubObjects, flags) }
      const local = await readLocal(flags.localResources, input)
      const resolved = await withReads(() =>
        resolveDocument(text, {
          objects,
          entropy: ENTROPY,
          ...hub,
          ...(local && { local }),
          objectName: flags.objectName ?? '',
          objectNamespace: flags.objectNamespace ?? '',
          skipValidation: flags.skipPolicyValidation ?? false,
        }),
      )
      terminal.data(resolved)
      return EXIT.ok
    } catch (caught) {
      if (!(caught instanceof PolicyTemplateError)) throw caught
      if (caught.cause instanceof PolicyTemplateError) terminal.say(caught.cause.message)
      terminal.say(`error processing templates: ${caught.message}`)
      return UNRESOLVED
    } finally {
      await Promise.all([objects.close(), hubObjects?.close()])
    }
  })
}

async function hubSide(
  text: string,
  objects: ReturnType<typeof clusterObjects>,
  { hubNamespace = '', clusterName = '' }: TemplateFlags,
): Promise<HubSide> {
  const namespace = hubNamespaceOf(readDocument(text), hubNamespace)
  const kind = { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' }
  const managedCluster = await withReads(() => objects.get({ ...kind, namespace: '', name: clusterName }))
  if (!managedCluster) {
    throw new PolicyTemplateError(
      `failed to get the ManagedCluster object for ${clusterName}: managedclusters.cluster.open-cluster-management.io "${clusterName}" not found`,
    )
  }
  return { objects, clusterName, namespace, managedCluster }
}

async function readLocal(file: string | undefined, input: PolicyInput<unknown>): Promise<JsonObject[] | undefined> {
  if (file === undefined || file === '') return undefined
  try {
    return readYaml(await readFileOrStdin(file, input), { duplicateKeys: 'last' })
      .map(({ value }) => value)
      .filter(isObject)
  } catch (caught) {
    if (caught instanceof YamlError) {
      throw new PolicyTemplateError(`failed to decode the local resources: ${caught.goMessage}`)
    }
    if (caught instanceof WrongArguments) {
      throw new PolicyTemplateError(`failed when processing local resource file: ${caught.message}`)
    }
    throw caught
  }
}

/** Prints the findings of the linter. Exits with 2 if one is an error, with 3 if there are only warnings. */
export async function policyLint(files: readonly string[], input: PolicyInput<unknown>): Promise<ExitCode | void> {
  const { terminal } = input
  return orWrongArguments(terminal, async () => {
    const findings = lintPolicy(await readInput(files, input))
    if (findings.length === 0) return EXIT.ok
    terminal.data(printFindings(findings))
    return findings.some(({ level }) => level === 'error') ? UNRESOLVED : FINDINGS
  })
}

async function orWrongArguments(terminal: Terminal, act: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await act()
  } catch (caught) {
    if (!(caught instanceof WrongArguments)) throw caught
    terminal.say(`Error: ${caught.message}`)
    return EXIT.failed
  }
}

async function readInput(files: readonly string[], input: PolicyInput<unknown>): Promise<string> {
  if (files.length > 1) throw new WrongArguments(`accepts at most 1 arg(s), received ${files.length}`)
  try {
    return await readFileOrStdin(files[0] ?? '-', input)
  } catch (caught) {
    if (!(caught instanceof WrongArguments)) throw caught
    throw new WrongArguments(`error handling YAML file input: ${caught.message}`)
  }
}

async function readFileOrStdin(file: string, input: PolicyInput<unknown>): Promise<string> {
  if (file === '-') {
    const text = await readStdin(input)
    if (text === '') throw new WrongArguments('failed to read from stdin: input is empty')
    return text
  }
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new WrongArguments(`failed to read the file "${file}": ${openProblem(file, cause)}`)
  }
}
