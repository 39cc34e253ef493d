// Package fleet is about all agents and what they share: settings, services and environments, filters over all applications,
// bulk jobs and commands.
package fleet
