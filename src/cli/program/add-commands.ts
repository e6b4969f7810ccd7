// Tested by src/cli/program/docs-page.test.ts
import { addAgent, addLogs } from './commands/agent.ts'
import { addArgo } from './commands/dialects/argo.ts'
import { addBundles } from './commands/bundle.ts'
import { addTemplate } from './commands/chart.ts'
import { addClusters } from './commands/cluster.ts'
import { addDemo } from './commands/demo.ts'
import { addDrift } from './commands/drift.ts'
import { addFleetWords } from './commands/dialects/fleet-words.ts'
import { addCompliance, addObserve, addStatus, addTop } from './commands/fleet.ts'
import { addFlux } from './commands/dialects/flux.ts'
import { addFreezes } from './commands/freeze.ts'
import { addHub, addLogin } from './commands/hub.ts'
import { addHandover } from './commands/dialects/handover.ts'
import { addKarmada } from './commands/dialects/karmada.ts'
import { addKustomize } from './commands/kustomization.ts'
import { addBackups, addDiagnosis } from './commands/maintenance.ts'
import { addGet, addWrites } from './commands/object.ts'
import { addOcm } from './commands/dialects/ocm.ts'
import { addPolicy } from './commands/dialects/policy.ts'
import { addExplain, addGuard, addSimulate } from './commands/placement.ts'
import { addProgramCommands } from './commands/program.ts'
import { addProjects } from './commands/project.ts'
import { addReleases } from './commands/release.ts'
import { addDiff, addFiles } from './commands/repository.ts'
import { addRollouts } from './commands/rollout.ts'
import { addSources } from './commands/source.ts'
import { addEvidence, addTrust } from './commands/trust.ts'
import type { Act } from './command-action.ts'
import type { FlotillaCommand } from './flotilla-command.ts'

/** In the order of `flotilla --help`: a group of the help begins where its first command is added. */
const COMMANDS: readonly ((program: FlotillaCommand, act: Act) => void)[] = [
  // Get started
  addDemo,
  addHub,
  addLogin,
  addClusters,
  addAgent,
  // Deliver
  addWrites,
  addSources,
  addBundles,
  addRollouts,
  addReleases,
  // Observe
  addStatus,
  addTop,
  addGet,
  addObserve,
  addCompliance,
  addLogs,
  addExplain,
  // Guard
  addDiff,
  addSimulate,
  addDrift,
  addFreezes,
  addGuard,
  addProjects,
  // Operate
  addDiagnosis,
  addBackups,
  addHandover,
  addTrust,
  addEvidence,
  // Offline tools
  addFiles,
  addTemplate,
  addKustomize,
  addOcm,
  addPolicy,
  addArgo,
  addFlux,
  addFleetWords,
  addKarmada,
  addProgramCommands,
]

/** Adds all commands. */
export function addAll(program: FlotillaCommand, act: Act): void {
  for (const add of COMMANDS) add(program, act)
}
