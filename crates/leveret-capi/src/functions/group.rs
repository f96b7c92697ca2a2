//! Groups of members.

use super::object::free;
use crate::answer::answer;
use crate::state::{with_library, with_world};
use crate::types::{CHandle, MPIRT_Group, NameIn, NameOut, Out, ValuesIn};
use leveret_runtime::objects::{Class, Code, Combination, Handle, World};
use std::ffi::c_int;

/// The rank of who is no member.
const RANK_UNDEFINED: c_int = -1;

/// Makes a group, once it is known that it has a place.
fn make(
    name: NameIn,
    result: Out<MPIRT_Group>,
    body: impl FnOnce(&mut World, &str) -> Result<Handle, Code>,
) -> Result<(), Code> {
    result.clear();
    result.check()?;
    let name = name.read()?;
    let made = with_library(|library| body(&mut library.world, name))?;
    result.put(MPIRT_Group::of(made))
}

fn ranks_in(ranks: ValuesIn<c_int>, count: c_int) -> Result<Vec<u32>, Code> {
    ranks.read(count)?.iter().map(|rank| u32::try_from(*rank).map_err(|_| Code::InvRank)).collect()
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_size(group: MPIRT_Group, size: Out<c_int>) -> c_int {
    answer(|| {
        let found = with_world(|world| world.group_size(group.handle()))?;
        size.put(c_int::try_from(found).map_err(|_| Code::Limit)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_rank(group: MPIRT_Group, rank: Out<c_int>) -> c_int {
    answer(|| {
        let found = with_world(|world| world.group_rank(group.handle()))?;
        rank.put(found.map_or(RANK_UNDEFINED, |rank| rank as c_int))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_incl(
    group: MPIRT_Group,
    count: c_int,
    ranks: ValuesIn<c_int>,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    answer(|| {
        let ranks = ranks_in(ranks, count)?;
        make(name, result, |world, name| world.group_include(name, group.handle(), &ranks))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_excl(
    group: MPIRT_Group,
    count: c_int,
    ranks: ValuesIn<c_int>,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    answer(|| {
        let ranks = ranks_in(ranks, count)?;
        make(name, result, |world, name| world.group_exclude(name, group.handle(), &ranks))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_union(
    first: MPIRT_Group,
    second: MPIRT_Group,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    let of_both = |world: &mut World, name: &str| {
        world.group_combine(name, Combination::Union, first.handle(), second.handle())
    };
    answer(|| make(name, result, of_both))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_intersection(
    first: MPIRT_Group,
    second: MPIRT_Group,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    let of_both = |world: &mut World, name: &str| {
        world.group_combine(name, Combination::Intersection, first.handle(), second.handle())
    };
    answer(|| make(name, result, of_both))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_difference(
    first: MPIRT_Group,
    second: MPIRT_Group,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    let of_both = |world: &mut World, name: &str| {
        world.group_combine(name, Combination::Difference, first.handle(), second.handle())
    };
    answer(|| make(name, result, of_both))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_translate_ranks(
    source: MPIRT_Group,
    count: c_int,
    ranks: ValuesIn<c_int>,
    target: MPIRT_Group,
    translated: Out<c_int>,
) -> c_int {
    answer(|| {
        let ranks = ranks_in(ranks, count)?;
        if !ranks.is_empty() {
            translated.check()?;
        }
        let found = with_world(|world| world.group_translate(source.handle(), &ranks, target.handle()))?;
        let found: Vec<c_int> =
            found.into_iter().map(|rank| rank.map_or(RANK_UNDEFINED, |rank| rank as c_int)).collect();
        translated.put_all(&found)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_compare(first: MPIRT_Group, second: MPIRT_Group, result: Out<c_int>) -> c_int {
    answer(|| {
        let found = with_world(|world| world.group_compare(first.handle(), second.handle()))?;
        result.put(found as c_int)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Group_get_member_name(group: MPIRT_Group, rank: c_int, name: NameOut) -> c_int {
    answer(|| {
        let rank = u32::try_from(rank).map_err(|_| Code::InvRank)?;
        with_world(|world| name.put(world.member_name(group.handle(), rank)?))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Group_find_member(group: MPIRT_Group, name: NameIn, rank: Out<c_int>) -> c_int {
    answer(|| {
        with_world(|world| world.group_size(group.handle()))?;
        rank.check()?;
        let name = name.read_given()?;
        let found = with_world(|world| world.find_member(group.handle(), name))?;
        rank.put(found.map_or(RANK_UNDEFINED, |rank| rank as c_int))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Group_free(group: Out<MPIRT_Group>) -> c_int {
    free(group, Some(Class::Group))
}
